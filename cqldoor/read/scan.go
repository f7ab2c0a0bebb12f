// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/scatter"
	"github.com/evenkeel/evenkeel/shard"
)

// walkChunk is how many physical partitions a scan asks for at once.
const walkChunk = 1000

// ownersKept is the largest number of partitions whose owners a scan remembers. It asks again for
// owners that it has forgotten.
const ownersKept = 100_000

// A scan reads partitions ahead of the one that it shows: at most aheadPartitions, and at most
// aheadRows rows of each. It reads no more than the page will probably need.
const (
	aheadPartitions = 16
	aheadRows       = 256
)

// ownersScan is a scan of logical partitions in the order of their owners. The owner of a
// partition is one of its shards that have rows to show: the one with the lowest token, or under
// strategy rollover the one with the lowest number. The scan walks over physical partitions and skips
// those that do not own their logical partition.
//
// A shard with a lower token than the owner may get its first row while the scan is between the two.
// Then that shard becomes the owner, and the scan misses the partition. If the owner loses its rows,
// the scan can show the partition twice. Cassandra's own scans promise no more for partitions that
// appear or disappear during a scan.
//
// Under strategy time this would happen all the time, because buckets get rows and lose them. If the
// result depends on each row alone, a scan under strategy time therefore shows the rows of each physical
// partition where it meets that partition.
type ownersScan struct {
	*reader
	hint  int
	pause pause // see reader.each
	visit visit
	by    *plan.Table // the table whose layout the scan follows
	each  bool        // the scan shows the rows of each physical partition where it meets that partition

	known map[string]*ownership // by logical key
	tasks sync.WaitGroup

	rows, partitions int // how many the scan has shown
}

// ownership is the position at which the scan shows a logical partition.
type ownership struct {
	ready chan struct{} // closed when the other fields are set
	owner plan.Position
	err   error
}

// owners visits the rows of a scan after a cursor.
func (x *reader) owners(c plan.Cursor, hint int, pause pause, f visit) error {
	ctx, cancel := context.WithCancel(x.ctx)
	own := *x
	own.ctx = ctx
	s := &ownersScan{reader: &own, hint: hint, pause: pause, visit: f, by: x.plan.Walked(c), known: map[string]*ownership{}}
	defer s.tasks.Wait()
	defer cancel()
	t := s.by
	s.each = t.Timed() && x.plan.Rowwise()
	c.Layout = t.Sum()
	var last *plan.Position
	if c.Scan != nil {
		at, key, _, err := t.At(c.Scan)
		if err != nil {
			return err
		}
		last = &at
		// If the page before ended between two partitions, the scan may still meet the owner of the last one:
		// under strategy rollover, or if the shard that the scan has met has only hidden rows.
		if !s.each && !(c.Done && (t.Layout.Strategy == shard.Rollover || t.Hides())) {
			s.known[string(plan.AppendKey(nil, key))] = &ownership{ready: closed, owner: at}
		}
		if on, err := s.show(at, key, c, hint); err != nil || !on {
			return err
		}
	}
	for _, r := range x.bound.Tokens {
		if last != nil {
			if last.Token > r.End {
				continue
			}
			r.Start = max(r.Start, last.Token)
		}
		if on, err := s.walk(r, &last); err != nil || !on {
			return err
		}
	}
	return nil
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// candidate is a physical partition that the scan meets.
type candidate struct {
	at  plan.Position
	key [][]byte
}

// walk visits the logical partitions whose owners are in a range of tokens, after the position last.
func (s *ownersScan) walk(r analysis.TokenRange, last **plan.Position) (bool, error) {
	t := s.by
	limit := walkChunk
	for {
		rows, err := s.all(placed(scatter.Unplaced, s.plan.Walk(t, r, limit)))
		if err != nil {
			return false, err
		}
		var met []candidate
		passed := 0 // physical partitions of other layouts
		for _, row := range rows {
			key, shard, ok := t.Met(row)
			if !ok {
				return false, fmt.Errorf("read: a scan of %s.%s brought something else than keys", t.Keyspace, t.Name)
			}
			at := t.Position(key, shard)
			if *last != nil && at.Compare(**last) <= 0 {
				continue
			}
			*last = &at
			if !t.Walks(key, shard) {
				passed++
				continue
			}
			met = append(met, candidate{at, key})
		}
		if on, err := s.inOrder(met); err != nil || !on {
			return false, err
		}
		if len(rows) < limit {
			return true, nil
		}
		if len(met)+passed == 0 {
			if limit > math.MaxInt32/2 {
				return false, fmt.Errorf("read: a scan of %s.%s does not get on", t.Keyspace, t.Name)
			}
			limit *= 2 // more than limit partitions share one token
		}
		r.Start = (*last).Token
	}
}

// inOrder shows the logical partitions that candidates own, one after the other. It reads some of them
// ahead.
func (s *ownersScan) inOrder(met []candidate) (bool, error) {
	var queue []*partitionTask
	for len(met) > 0 || len(queue) > 0 {
		for n := s.ahead(); len(met) > 0 && len(queue) < n; met = met[1:] {
			queue = append(queue, s.start(met[0]))
		}
		t := queue[0]
		queue = queue[1:]
		<-t.done
		if t.err != nil {
			return false, t.err
		}
		if t.owns {
			s.partitions++
			if on, err := s.showRead(t); err != nil || !on {
				return false, err
			}
		}
		if s.pause != nil && s.hurried() {
			return false, s.pause(plan.Cursor{Scan: t.at.Key, Layout: s.by.Sum(), Done: true})
		}
	}
	return true, nil
}

// ahead returns how many partitions the scan may read at once, including the one that it shows next. It
// returns 1 until the scan has shown a partition, and then as many as the page will probably need.
func (s *ownersScan) ahead() int {
	if s.partitions == 0 {
		return 1
	}
	n := aheadPartitions
	each := max(1, s.rows/s.partitions)
	if s.total > 0 {
		n = min(n, 1+max(0, s.total-s.rows)/each)
	}
	if width := s.rowWidth().known(); width > 0 {
		n = min(n, s.reads.Held/(width*min(aheadRows, 2*each)))
	}
	return max(1, n)
}

// partitionTask reads the beginning of a partition, if the scan shows the partition at this position.
type partitionTask struct {
	candidate
	done chan struct{} // closed when the other fields are set
	owns bool
	read []step
	held []*request.Holding // memory of the rows in read
	more bool               // there may be more rows
	err  error
}

// start begins a task. If the partition's owner is not known, the first task that needs it asks the
// store. That is the task at the lowest position.
func (s *ownersScan) start(c candidate) *partitionTask {
	t := &partitionTask{candidate: c, done: make(chan struct{})}
	name := string(plan.AppendKey(nil, c.key))
	o, asked := s.known[name]
	if s.each {
		o, asked = &ownership{ready: closed, owner: c.at}, true
	}
	if !asked || !rule.On(rule.OwnersOnce) {
		if len(s.known) >= ownersKept {
			clear(s.known)
		}
		o = &ownership{ready: make(chan struct{})}
		s.known[name] = o
		asked = false
	}
	x := *s.of(c.at)
	x.ahead, x.among, x.shows = nil, aheadPartitions, &t.held
	s.tasks.Go(func() {
		defer close(t.done)
		defer func() {
			if p := recover(); p != nil {
				t.err = fmt.Errorf("read: a partition ahead: %v", p)
			}
		}()
		if !asked {
			o.owner, o.err = ownerOf{&x, s.by, c.key}.find(c.at)
			close(o.ready)
		}
		select {
		case <-o.ready:
		case <-x.ctx.Done():
			t.err = x.ctx.Err()
			return
		}
		if t.err = o.err; t.err != nil {
			return
		}
		if t.owns = o.owner.Compare(c.at) == 0 || !rule.On(rule.OwnersOnce); !t.owns {
			return
		}
		want := aheadRows
		if s.hint > 0 {
			want = min(want, s.hint)
		}
		_, t.err = x.partition(c.key, plan.Cursor{Scan: c.at.Key, Layout: s.by.Sum()}, want, func(st step) (bool, error) {
			row := *st.row
			t.read = append(t.read, step{&row, st.at})
			t.more = len(t.read) >= want
			return !t.more, nil
		})
	})
	return t
}

// showRead shows the rows that a task has read, and then the rest of the partition.
func (s *ownersScan) showRead(t *partitionTask) (bool, error) {
	s.owned(t.at)
	s.rows += len(t.read)
	defer func() {
		for _, h := range t.held {
			h.Close()
		}
	}()
	for _, st := range t.read {
		if on, err := s.visit(st); err == errEnough {
			return true, nil
		} else if err != nil || !on {
			return false, err
		}
	}
	if !t.more {
		return true, nil
	}
	hint := s.hint
	if hint > 0 {
		hint = max(1, hint-len(t.read))
	}
	return s.show(t.at, t.key, t.read[len(t.read)-1].at, hint)
}

// show shows the rows of a partition after a cursor in it.
func (s *ownersScan) show(at plan.Position, key [][]byte, c plan.Cursor, hint int) (bool, error) {
	s.owned(at)
	c.KeyIndex = 0
	return s.of(at).partition(key, c, hint, func(st step) (bool, error) {
		s.rows++
		return s.visit(st)
	})
}

// of returns the reader for the rows that the scan shows at a position.
func (s *ownersScan) of(at plan.Position) *reader {
	if !s.each {
		return s.reader
	}
	x := *s.reader
	x.only = &oneShard{by: s.by}
	_, _, x.only.shard, _ = s.by.At(at.Key) // Walk has read the key
	return &x
}

// owned makes the position at the one whose token the function token() of the statement returns.
func (s *ownersScan) owned(at plan.Position) {
	s.bound.Env.Token = func([][]byte) []byte { return be64Bytes(uint64(at.Token)) }
}

func be64Bytes(n uint64) []byte {
	return []byte{byte(n >> 56), byte(n >> 48), byte(n >> 40), byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}
