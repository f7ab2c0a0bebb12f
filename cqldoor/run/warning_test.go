// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestTombstoneWarnings reads many tombstones of a partition in two shards. Cassandra warns about
// each of the door's two statements; the client gets warnings about its own table.
func TestTombstoneWarnings(t *testing.T) {
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	c := session(t, serveDoor(t, st, startRouter(t, st)), 5)
	ks := fmt.Sprintf("tomb%x", random())
	exec(t, c, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	exec(t, c, "CREATE TABLE "+ks+`."T" (k text, c int, PRIMARY KEY (k, c)) WITH write_sharding = {'shards': '2'}`)
	for from := range 25 {
		var batch strings.Builder
		batch.WriteString("BEGIN UNLOGGED BATCH ")
		for n := range 100 {
			fmt.Fprintf(&batch, `DELETE FROM %s."T" WHERE k = ' (see it)' AND c = %d; `, ks, 100*from+n)
		}
		exec(t, c, batch.String()+"APPLY BATCH")
	}
	warnings := c.Query(`SELECT * FROM ` + ks + `."T" WHERE k = ' (see it)'`).Iter().Warnings()
	want := regexp.MustCompile(`^Read 0 live rows and \d+ tombstone cells for query on ` + ks + `\.T \(see tombstone_warn_threshold\)$`)
	if len(warnings) == 0 || len(warnings) > 2 {
		t.Errorf("warnings %q, want one or two", warnings)
	}
	for _, w := range warnings {
		if !want.MatchString(w) {
			t.Errorf("warning %q, want %s", w, want)
		}
	}
}
