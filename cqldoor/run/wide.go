// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// What the door holds of one page is bounded in bytes. Most pages are small. Where
// one is not, its clustering keys are read first: they say which rows the page is
// made of and where these are, so that the rows are then fetched in steps, none
// too many and each once.

// maxHeld is how many bytes of fetched rows the door holds for one page, beside
// the page itself as far as it is written. A step takes half of it, one request an
// eighth, so that a row may be larger than those before it.
const maxHeld = 32 << 20

// errWide says that rows were larger than was thought.
var errWide = errors.New("run: rows are too large for a page to be read at once")

// learn notes what a row takes: at once where it is more than was known, slowly
// where it is less.
func (x *reader) learn(width int) {
	known := x.rowWidth().Load()
	x.rowWidth().Store(max(int64(width), known-known/4, 1))
}

// firstLook learns from the first answer what a row takes, where that was not known.
func (x *reader) firstLook(body []byte) bool {
	rows, err := wire.ParseRows(body)
	if err != nil || rows.Count == 0 || x.rowWidth().Load() != 0 {
		return false
	}
	x.learn(len(body) / rows.Count)
	return true
}

// wide says whether a page of so many rows is likely to be too large.
func (x *reader) wide(want, shards int) bool {
	return len(x.plan.Clustering) > 0 && x.rowWidth().Load()*int64(want+2*shards) > int64(x.r.held)
}

// span is how many rows are merged at once of a long page: the more, the less often
// each shard is asked.
func (x *reader) span() int {
	width := int(x.rowWidth().Load())
	if width == 0 {
		return window
	}
	return max(window, min(x.r.held/2/width, longSpan))
}

// longSpan is the most.
const longSpan = 100_000

// rowWidth is what a row takes, as far as is known; 0: nothing is.
func (x *reader) rowWidth() *atomic.Int64 {
	if x.width == nil {
		x.width = x.r.registry.width(x.plan.Selection)
	}
	return x.width
}

// grouped is how many shards one request reads, of each so many rows: one while
// it is not known what that makes.
func (x *reader) grouped(rows int) int {
	width := int(x.rowWidth().Load())
	if width == 0 {
		return 1
	}
	return max(1, min(x.group(shardGroup), x.r.held/8/(width*rows)))
}

// window is how many requests may be in flight when so many bytes have come: a
// few until it is known what an answer takes.
func (x *reader) window(arrived int) int {
	if x.rowWidth().Load() == 0 && arrived == 0 {
		return 2
	}
	return x.fanOut()
}

// ahead is the keys of rows that are to be read, after a clustering key.
type ahead struct {
	*rowset
	at int // those before have been read
}

// narrow reads a page of large rows, as far as one step goes.
func (x *reader) narrow(s plan.Segment, after [][]byte, want int) (*rowset, error) {
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
			// Where others have come since, the keys are no guide any more.
			x.ahead = nil
		}
		rows.more = rows.more || rest || a.more
		if len(rows.rows) > 0 || !rows.more {
			return rows, nil
		}
		// The rows have gone since.
	}
}

// keys reads the clustering keys of a page, or of a shorter one.
func (x *reader) keys(s plan.Segment, after [][]byte, want int) (*rowset, error) {
	for {
		e := extent{Segment: s, after: after, want: want, keys: true, limit: x.r.held, group: x.group(shardGroup)}
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

// step reads some rows whose keys are known, and says of how many keys.
func (x *reader) step(s plan.Segment, after [][]byte, a *ahead) (rows *rowset, n int, err error) {
	known := a.rows[a.at:]
	for n = len(known); ; {
		n = max(1, min(n, x.r.held/2/int(max(x.rowWidth().Load(), 1))))
		e := extent{Segment: s, after: after, want: n, limit: x.r.held, upto: a.key(&known[n-1])}
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
