// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"flag"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/store"
)

var (
	linearChanges = flag.Int("linear.changes", fewLinear, "how many changes of layout TestLinearAcrossChanges makes")
	linearSeed    = flag.Uint64("linear.seed", 1, "seed of its draws")
)

// fewLinear is how many changes are made without -linear.changes, on the embedded engine alone.
const fewLinear = 1

// try is one conditional write of a row, or one read. Each row has one value.
type try struct {
	kind     tryKind
	row      int
	from, to int // an update sets to if the value is from; an insertion sets to; a deletion expects from
}

type tryKind uint8

const (
	tryRead tryKind = iota
	tryInsert
	tryUpdate
	tryDelete
)

// none is the value of a row that is not there.
const none = 0

// outcome is what a try returned.
type outcome struct {
	unknown bool // the write may have been applied, or may yet be
	applied bool
	value   int // what a read found, and what a write found that was not applied
}

// registers is the table as conditional writes see it: each row is one value.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		at := map[int]int{}
		for _, o := range history {
			row := o.Input.(try).row
			if _, ok := at[row]; !ok {
				at[row] = len(parts)
				parts = append(parts, nil)
			}
			parts[at[row]] = append(parts[at[row]], o)
		}
		return parts
	},
	Init: func() any { return none },
	Step: func(state, input, output any) (bool, any) {
		is, in, out := state.(int), input.(try), output.(outcome)
		applies, next := false, is
		switch in.kind {
		case tryRead:
			return out.value == is, is
		case tryInsert:
			applies, next = is == none, in.to
		case tryUpdate:
			applies, next = is == in.from, in.to
		case tryDelete:
			applies, next = is == in.from, none
		}
		if !applies {
			next = is
		}
		return out.unknown || out.applied == applies && (applies || out.value == is), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// TestLinearAcrossChanges runs clients at two doors. They read, and write with conditions, while the layout of
// the table changes: from plain to sharded, to other numbers of shards, and to plain. One of the two doors
// stops now and then. A third door begins the first change, and then stops for ever. The clocks of the doors
// differ by minutes.
// The history must be one that a table of registers could have. During a change the doors refuse conditions.
func TestLinearAcrossChanges(t *testing.T) {
	if *linearChanges > fewLinear {
		onStores(t, linearAcrossChanges)
		return
	}
	linearAcrossChanges(t, embedded(t))
}

func linearAcrossChanges(t *testing.T, st store.Store) {
	var beds []*sleeper
	var doors []*gocql.Session
	for i, skew := range []time.Duration{0, 4 * time.Minute, -3 * time.Minute} {
		bed := &sleeper{Store: st}
		beds = append(beds, bed)
		r := startDoorWith(t, bed, string(rune('a'+i))+":1", func(o *Options) { o.Now = func() time.Time { return time.Now().Add(skew) } })
		doors = append(doors, session(t, serveDoor(t, bed, r), 4+i%2))
	}
	l := livedAt(t, st, doors[:2]...)
	exec(t, doors[0], "CREATE TABLE lived.other (p int, c int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}") // makes the catalogue
	exec(t, doors[0], "CREATE TABLE lived.t (p int, c int, v int, PRIMARY KEY (p, c))")
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(*linearChanges)*patience/2)
	defer cancel()

	h := &tries{began: time.Now(), seen: make([]atomic.Int64, 5)}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for n := range 4 {
		clients.Go(func() { h.client(t, n, doors[:2], stop) })
	}
	defer func() {
		close(stop)
		clients.Wait()
		result := porcupine.CheckOperationsTimeout(registers, h.all, time.Minute)
		if result != porcupine.Ok {
			t.Errorf("%d tries are not linearizable: %s (seed %d)", len(h.all), result, *linearSeed)
		}
		t.Logf("%d tries, %d writes applied, %d of unknown outcome, %d refused during changes", len(h.all), h.applied, h.unknown, h.refused)
		if h.applied < 20*int(*linearChanges) {
			t.Errorf("only %d writes were applied", h.applied)
		}
	}()
	r := mathrand.New(mathrand.NewPCG(*linearSeed, 3))
	layouts := []string{"'shards': '4'", "'shards': '7'", "", "'shards': '3'", "'shards': '5'", ""}
	for n := range *linearChanges {
		time.Sleep(time.Duration(200+r.IntN(300)) * time.Millisecond) // conditions are possible
		var stops sync.WaitGroup
		stops.Go(func() { beds[1].naps(r, 2) })
		alter := "ALTER TABLE lived.t WITH write_sharding = {" + layouts[n%len(layouts)] + "}"
		if n == 0 {
			exec(t, doors[2], alter)
			defer beds[2].sleep()() // it wakes when the test has ended
		} else {
			exec(t, doors[0], alter)
		}
		for s := l.status(); s.Phase != "none"; s = l.status() {
			if ctx.Err() != nil || s.Problem != "" {
				t.Fatalf("the change does not end: %+v", s)
			}
			time.Sleep(20 * time.Millisecond)
		}
		stops.Wait()
	}
}

// tries is a history.
type tries struct {
	began time.Time
	value atomic.Int64   // the last value that was drawn; all are different
	seen  []atomic.Int64 // by row: a value that was found lately

	mu                        sync.Mutex
	all                       []porcupine.Operation
	applied, unknown, refused int
}

// client makes tries until it is told to stop.
func (h *tries) client(t *testing.T, number int, doors []*gocql.Session, stop chan struct{}) {
	r := mathrand.New(mathrand.NewPCG(*linearSeed, uint64(10+number)))
	for {
		select {
		case <-stop:
			return
		default:
		}
		in := try{kind: tryKind(r.IntN(4)), row: r.IntN(len(h.seen)), to: int(h.value.Add(1))}
		in.from = int(h.seen[in.row].Load())
		if in.from == none && in.kind > tryInsert {
			continue
		}
		began := time.Since(h.began)
		out, err := in.send(doors[r.IntN(len(doors))])
		ended := time.Since(h.began)
		h.mu.Lock()
		switch {
		case err == nil:
		case notExecuted(err) || in.kind == tryRead:
			if !notExecuted(err) && !strings.Contains(err.Error(), doorStoodStill) {
				t.Errorf("%+v: %v", in, err)
			}
			h.refused++
			h.mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			continue
		case strings.Contains(err.Error(), "it may have been applied or not") || strings.Contains(err.Error(), doorStoodStill):
			out, ended = outcome{unknown: true}, math.MaxInt64
			h.unknown++
		default:
			t.Errorf("%+v: %v", in, err)
			out, ended = outcome{unknown: true}, math.MaxInt64
		}
		if out.applied {
			h.applied++
			out.value = in.to
			if in.kind == tryDelete {
				out.value = none
			}
		}
		h.seen[in.row].Store(int64(out.value))
		h.all = append(h.all, porcupine.Operation{ClientId: number, Input: in, Output: out, Call: int64(began), Return: int64(ended)})
		h.mu.Unlock()
	}
}

// notExecuted reports whether a refused statement has certainly done nothing.
func notExecuted(err error) bool {
	return strings.Contains(err.Error(), "conditions (IF) are not possible while") || strings.Contains(err.Error(), "was not executed")
}

// send sends a try through a door. Rows are spread over two partitions.
func (in try) send(s *gocql.Session) (out outcome, err error) {
	p, c := in.row%2, in.row
	var q *gocql.Query
	switch in.kind {
	case tryRead:
		err := s.Query("SELECT v FROM lived.t WHERE p = ? AND c = ?", p, c).Consistency(gocql.Quorum).Scan(&out.value)
		if err == gocql.ErrNotFound {
			err = nil
		}
		return out, err
	case tryInsert:
		q = s.Query("INSERT INTO lived.t (p, c, v) VALUES (?, ?, ?) IF NOT EXISTS", p, c, in.to)
	case tryUpdate:
		q = s.Query("UPDATE lived.t SET v = ? WHERE p = ? AND c = ? IF v = ?", in.to, p, c, in.from)
	case tryDelete:
		q = s.Query("DELETE FROM lived.t WHERE p = ? AND c = ? IF v = ?", p, c, in.from)
	}
	now := map[string]any{}
	out.applied, err = q.Consistency(gocql.Quorum).SerialConsistency(gocql.Serial).MapScanCAS(now)
	if v, ok := now["v"].(int); ok && !out.applied {
		out.value = v
	}
	return out, err
}
