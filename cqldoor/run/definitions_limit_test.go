// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestDefinitionsWithoutAnswer has a store that does not answer schema statements. The error names the outcome
// and the way out.
func TestDefinitionsWithoutAnswer(t *testing.T) {
	s := newScene(t, &picky{Store: embedded(t), refuse: func(m wire.Message) *wire.Error {
		if strings.Contains(string(m.Body), "silent") {
			return silence
		}
		return nil
	}})
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".sharded (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
	s.router.definer.Limit = 50 * time.Millisecond
	for _, with := range []string{"", " WITH write_sharding = {'shards': '3'}"} {
		a := s.query(s.v5, "CREATE TABLE "+s.keyspace+".t (silent int, c int, PRIMARY KEY (silent, c))"+with)
		if a.Kind != difftest.Error || a.Code != primitive.ErrorCodeWriteTimeout || !strings.Contains(a.Text, "has not answered in time") || !strings.Contains(a.Text, "look at the schema") {
			t.Errorf("%q: %v", with, a)
		}
	}
}
