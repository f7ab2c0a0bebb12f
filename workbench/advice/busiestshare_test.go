// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBusiestShareInWords checks the sentence on a partition's size where a key has a larger share of
// the writes in its busiest time than at other times.
func TestBusiestShareInWords(t *testing.T) {
	var data strings.Builder
	data.WriteString("tenant,ts,v\n")
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 20_000 {
		tenant := fmt.Sprintf("t%d", i*7919%500)
		if i%10 < 4 || i%10 < 8 && i > 10_000 && i < 13_000 {
			tenant = "big"
		}
		fmt.Fprintf(&data, "%s,%s,%d\n", tenant, first.Add(time.Duration(i)*30*time.Second).Format(time.RFC3339), i)
	}
	r := advisedOf(t, "SELECT * FROM m.h WHERE tenant = ? AND ts > ? -- 300/s\nINSERT INTO m.h (tenant, ts, v) VALUES (?, ?, ?) -- 9000/s", data.String())
	want := "with 9,000 writes/s all the hour long and the hottest key's share of them in its busiest time the largest gets "
	if !slices.ContainsFunc(r.Verdict.Reasons, func(reason string) bool { return strings.HasPrefix(reason, want) }) {
		t.Errorf("no reason begins with %q:\n%s", want, strings.Join(r.Verdict.Reasons, "\n"))
	}
}
