package run

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// State is what is known of the sharded tables at one time: an immutable snapshot.
type State struct {
	Schema *schema.Schema                    // logical; the keyspaces that have sharded tables
	Tables map[string]map[string]*plan.Table // by keyspace and name
}

// Table returns a sharded table, or nil.
func (s *State) Table(keyspace, name string) *plan.Table { return s.Tables[keyspace][name] }
