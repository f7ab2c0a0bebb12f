// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// advice returns warnings about the costs of a table's new layout. ttl is the table's default time to
// live, in seconds; 0: none.
func advice(ttl int, t *schema.Table, l *shard.Layout) (warnings []string) {
	if len(t.Statics) > 0 && l.Strategy == shard.Calculated {
		warnings = append(warnings, fmt.Sprintf("write_sharding: the static columns (%s) of a partition are in one of its shards: every write of a row "+
			"that sets one of them writes to that shard too, which then is as hot as the partition was; write static columns by "+
			"statements of their own, and seldom", names(t.Statics, ", ")))
	}
	if !l.Strategy.Anywhere() {
		return warnings
	}
	all := fmt.Sprintf("goes to all %d shards in one batch; strategy 'calculated' writes to one", l.N)
	if l.Strategy == shard.Rollover {
		all = "goes to all shards that the key has, so that none of them is ever left behind; strategies 'time' and 'calculated' write to one"
	}
	if ttl > 0 {
		warnings = append(warnings, fmt.Sprintf("write_sharding: under strategy '%s' what expires is written to every shard, and with default_time_to_live = %d every write %s", l.Strategy, ttl, all))
	}
	var wide []*schema.Column
	for _, c := range t.All() {
		if c.Type.Multicell() {
			wide = append(wide, c)
		}
	}
	if len(wide) > 0 {
		warnings = append(warnings, fmt.Sprintf("write_sharding: under strategy '%s' a write of what is not frozen (%s) %s", l.Strategy, names(wide, ", "), all))
	}
	if l.Strategy == shard.Rollover {
		if n := l.Fill.Rows; n > 0 && n < fewRows {
			warnings = append(warnings, fmt.Sprintf("write_sharding: with 'rows': '%d' a key of a million rows has %d shards, and each read of it asks them all; shards of %d rows and more are usual", n, 1_000_000/n, 100*fewRows))
		}
		return append(warnings, "write_sharding: under strategy 'rollover' a read asks all shards that its key has, nulls and deletions are written to them all, and there are no conditions (IF); "+
			"it is for rows that are written once")
	}
	if !t.Counter && len(t.Clustering) > 0 {
		warnings = append(warnings, "write_sharding: under strategy 'random' every read asks all shards, nulls and deletions are written to all, and there are no conditions (IF); "+
			"strategy 'calculated' is for tables whose clustering columns tell the rows of a partition apart")
	}
	return warnings
}

// fewRows is the least number of rows that a shard should have.
const fewRows = 1000
