// SPDX-License-Identifier: Apache-2.0

package read

import (
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// The bytes that the door holds for one page are bounded. Most pages are small. If a page is not,
// the door first reads the clustering keys of its rows. The keys show which rows the page has, and in
// which shards they are. Then the door fetches the rows in steps: each row once, and only a few rows
// that it does not need.

// errWide means that rows are larger than expected.
var errWide = errors.New("read: rows are too large for a page to be read at once")

// tooWide reports whether a page of want rows will probably be too large to be read at once.
func (x *merger) tooWide(want, shards int) bool {
	return len(x.plan.Clustering) > 0 && x.rowWidth().wide(want, shards, x.reads.Held)
}

// rowWidth returns the size of the rows that the statement fetches, as far as it is known.
func (x *merger) rowWidth() rowWidth {
	if x.width == nil {
		x.width = x.reads.Cache.Width(x.plan.Selection)
	}
	return rowWidth{x.width}
}

// grouped returns how many shards one request reads, if it reads so many rows of each. It returns 1
// while the size of a row is not known.
func (x *merger) grouped(rows int) int {
	width := x.rowWidth().known()
	if width == 0 {
		return 1
	}
	return max(1, min(x.group(shardGroup), x.reads.Held/8/(width*rows)))
}

// window returns how many requests may be in flight when so many bytes have arrived. It returns a
// small number until the size of a response is known.
func (x *merger) window(arrived int) int {
	if x.rowWidth().known() == 0 && arrived == 0 {
		return 2
	}
	return x.fanOut()
}

// ahead holds the clustering keys of the rows that the reader will read next.
type ahead struct {
	*rowset
	at int // the rows before this index have been read
}

// narrow reads a page of large rows. The page ends after one step.
func (x *merger) narrow(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	for {
		if x.ahead == nil {
			keys, err := x.keys(s, after, want)
			if err != nil || len(keys.rows) == 0 {
				return keys, err
			}
			x.ahead = &ahead{rowset: keys}
		}
		a := x.ahead
		rows, n, err := x.step(s, after, a)
		if err != nil {
			return nil, err
		}
		a.at += n
		rest := a.at < len(a.rows)
		if rows.more || !rest {
			// If clients have written other rows since, the keys are of no use any more.
			x.ahead = nil
		}
		rows.more = rows.more || rest || a.more
		if len(rows.rows) > 0 || !rows.more {
			return rows, nil
		}
		// The rows of the step have been deleted since.
	}
}

// keys reads the clustering keys of a page of want rows. It reads fewer keys if they are too large.
func (x *merger) keys(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	for {
		e := extent{Segment: s, after: after, want: want, keys: true, limit: x.reads.Held, group: x.group(shardGroup)}
		if want == 1 {
			e.limit = 0
		}
		keys, err := x.merge(e)
		if !errors.Is(err, errWide) {
			return keys, err
		}
		want = max(1, want/2)
	}
}

// step reads some rows whose keys are known. It returns the rows, and how many keys it has used.
func (x *merger) step(s plan.Segment, after [][]byte, a *ahead) (rows *rowset, n int, err error) {
	known := a.rows[a.at:]
	for n = len(known); ; {
		n = max(1, min(n, x.reads.Held/2/max(x.rowWidth().known(), 1)))
		e := extent{Segment: s, after: after, want: n, limit: x.reads.Held, upto: a.key(&known[n-1])}
		e.Shards, e.expect = nil, nil
		if x.plan.Merges() {
			e.Shards = s.Shards
			e.expect = slices.Repeat([]int{n}, len(s.Shards))
		} else {
			for _, r := range known[:n] {
				at := slices.Index(e.Shards, int(r.shard))
				if at < 0 {
					at = len(e.Shards)
					e.Shards, e.expect = append(e.Shards, int(r.shard)), append(e.expect, 0)
				}
				e.expect[at]++
			}
		}
		e.group = x.grouped(slices.Max(e.expect))
		if n == 1 {
			e.limit = 0
		}
		if rows, err = x.merge(e); !errors.Is(err, errWide) {
			return rows, n, err
		}
		n /= 2
	}
}
