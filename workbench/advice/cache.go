// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"

	"github.com/evenkeel/evenkeel/workbench/queries"
)

// cache says why a cache is needed: queries read single items so often that the hottest partition
// cannot bear it. It returns "" if no cache is needed. Shards would not help: a read of one item
// always goes to one shard.
func (s *heats) cache(d *Design, h Heat) string {
	if h.ReadLimit == 0 || h.ReadUnits <= h.ReadLimit {
		return ""
	}
	for i := range s.qs {
		q := &s.qs[i]
		if q.Verb == queries.Read && d.namedWhole(q) {
			door := ""
			if s.o.Target == DynamoDB {
				door = "; evenkeel's DynamoDB door has one (--cache)"
			}
			return fmt.Sprintf("if items are read as often as they are written, the hottest partition is asked for %s read units/s, and bears %s: keep the popular items in a cache%s", number(h.ReadUnits), number(h.ReadLimit), door)
		}
	}
	return ""
}

// namedWhole reports whether a query binds the whole primary key.
func (d *Design) namedWhole(q *queries.Query) bool {
	for _, c := range append(d.columns(), d.Clustering...) {
		if q.Bound(c) == nil {
			return false
		}
	}
	return !d.AddID && d.bucket() == nil
}
