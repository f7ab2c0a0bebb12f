// SPDX-License-Identifier: Apache-2.0

package ringtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// load writes and reads rows at QUORUM, sends nothing twice, and notes what has been acknowledged.
type load struct {
	tables []string // each (day int, id int, body text, PRIMARY KEY (day, id))
	s      *gocql.Session
	stop   chan struct{}
	done   sync.WaitGroup

	mu       sync.Mutex
	acked    map[key]string // rows whose INSERT was acknowledged, with their bodies
	keys     []key          // of acked, in the order of the acknowledgements
	since    tally          // since the last call of take
	newest   time.Time      // when the last request succeeded
	from     time.Time      // when a request last succeeded, or take was called
	failedAt time.Time      // when the last request failed
	wrong    []string
}

type key struct {
	table   string
	day, id int
}

// tally counts requests. gap is the longest time in which none succeeded.
type tally struct {
	writes, reads int
	errors        map[string]int // by operation and kind
	gap, longest  time.Duration
}

func (c tally) String() string {
	return fmt.Sprintf("%d writes and %d reads succeeded; the longest took %v; at most %v without one; errors: %v",
		c.writes, c.reads, c.longest.Round(time.Millisecond), c.gap.Round(time.Millisecond), c.errors)
}

const (
	days         = 5
	loadPatience = time.Minute // of a request; the door gives up what a node has not answered before
)

// startLoad begins the load. finish ends it.
func startLoad(t *testing.T, s *gocql.Session, tables ...string) *load {
	l := &load{tables: tables, s: s, stop: make(chan struct{}), acked: map[key]string{}, newest: time.Now(), from: time.Now()}
	l.since.errors = map[string]int{}
	const writers, readers, pagers = 4, 4, 1
	seed := rand.Uint64()
	t.Logf("the load's seed is %d", seed)
	run := func(i int, each func(r *rand.Rand, n int)) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		l.done.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				case <-time.After(time.Duration(r.Int64N(int64(4 * time.Millisecond)))):
					each(r, n)
				}
			}
		})
	}
	for w := range writers {
		run(w, func(r *rand.Rand, n int) { l.write(r, n*writers+w) })
	}
	for w := range readers {
		run(writers+w, func(r *rand.Rand, _ int) { l.read(r) })
	}
	for w := range pagers {
		run(writers+readers+w, func(r *rand.Rand, n int) {
			if n%50 == 0 {
				l.page(r)
			}
		})
	}
	t.Cleanup(func() { l.finish() })
	return l
}

// learn lets Cassandra measure the reads of new tables under load. Until it has done that for one read
// timeout (30 s in these tests), it retries a read that a dead replica does not answer after half of it only.
func (l *load) learn(t *testing.T) {
	t.Helper()
	l.during(t, "nothing happens", func() error { time.Sleep(35 * time.Second); return nil })
}

// finish ends the load. It may be called again.
func (l *load) finish() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.done.Wait()
}

func (l *load) query(text string, values ...any) *gocql.Query {
	return l.s.Query(text, values...).Consistency(gocql.Quorum)
}

// atMost returns the context of one request, which ends after loadPatience.
func atMost() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), loadPatience)
}

func (l *load) write(r *rand.Rand, id int) {
	k := key{l.tables[r.IntN(len(l.tables))], r.IntN(days), id}
	body := fmt.Sprint(r.Uint64())
	begun := time.Now()
	ctx, cancel := atMost()
	defer cancel()
	q := l.query("INSERT INTO "+k.table+" (day, id, body) VALUES (?, ?, ?)", k.day, k.id, body)
	err := q.ExecContext(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count("write", begun, err); err == nil {
		l.since.writes++
		l.acked[k] = body
		l.keys = append(l.keys, k)
	}
}

// read reads a row that was acknowledged: one of the last, or any.
func (l *load) read(r *rand.Rand) {
	l.mu.Lock()
	n := len(l.keys)
	if n == 0 {
		l.mu.Unlock()
		return
	}
	at := r.IntN(n)
	if r.IntN(2) == 0 {
		at = n - 1 - r.IntN(min(n, 20))
	}
	k := l.keys[at]
	want := l.acked[k]
	l.mu.Unlock()
	begun := time.Now()
	var body string
	ctx, cancel := atMost()
	defer cancel()
	q := l.query("SELECT body FROM "+k.table+" WHERE day = ? AND id = ?", k.day, k.id)
	err := q.ScanContext(ctx, &body)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, gocql.ErrNotFound):
		l.wrong = append(l.wrong, fmt.Sprintf("%v was acknowledged, and is not there", k))
	case err == nil && body != want:
		l.wrong = append(l.wrong, fmt.Sprintf("%v is %q, and was acknowledged as %q", k, body, want))
	}
	if l.count("read", begun, err); err == nil {
		l.since.reads++
	}
}

// page reads all rows of a day, in pages.
func (l *load) page(r *rand.Rand) {
	table, day := l.tables[r.IntN(len(l.tables))], r.IntN(days)
	l.mu.Lock()
	var want []key
	for _, k := range l.keys {
		if k.table == table && k.day == day {
			want = append(want, k)
		}
	}
	l.mu.Unlock()
	begun := time.Now()
	ctx, cancel := atMost()
	defer cancel()
	q := l.query("SELECT id, body FROM "+table+" WHERE day = ?", day)
	got := map[key]string{}
	last := -1
	rows := q.PageSize(500).IterContext(ctx)
	var id int
	var body string
	var wrong []string
	for rows.Scan(&id, &body) {
		if id <= last {
			wrong = append(wrong, fmt.Sprintf("%s, day %d: row %d comes after row %d", table, day, id, last))
		}
		last = id
		got[key{table, day, id}] = body
	}
	err := rows.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		for _, k := range want {
			if body, ok := got[k]; !ok || body != l.acked[k] {
				wrong = append(wrong, fmt.Sprintf("%v was acknowledged before a page was asked for, and is not in it (%t)", k, ok))
			}
		}
		l.since.reads++
	}
	l.wrong = append(l.wrong, wrong...)
	l.count("read", begun, err)
}

// count notes the outcome of a request. The caller holds mu.
func (l *load) count(op string, begun time.Time, err error) {
	now := time.Now()
	l.since.longest = max(l.since.longest, now.Sub(begun))
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		l.since.errors[op+": "+kind(err)]++
		l.failedAt = now
		return
	}
	l.since.gap = max(l.since.gap, now.Sub(l.from))
	l.newest, l.from = now, now
}

// kind names an error: its kind and who made it, or the driver's text. The door's own errors say so.
func kind(err error) string {
	var wt *gocql.RequestErrWriteTimeout
	var rt *gocql.RequestErrReadTimeout
	var un *gocql.RequestErrUnavailable
	var re gocql.RequestError
	name := ""
	switch {
	case errors.As(err, &wt):
		name = "write timeout"
	case errors.As(err, &rt):
		name = "read timeout"
	case errors.As(err, &un):
		name = "unavailable"
	case errors.As(err, &re) && re.Code() == gocql.ErrCodeOverloaded:
		name = "overloaded"
	default:
		return err.Error()
	}
	if strings.Contains(err.Error(), "evenkeel: ") {
		return "the door's " + name
	}
	return "the cluster's " + name
}

// take returns the figures since the last call.
func (l *load) take() tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.since
	was.gap = max(was.gap, time.Since(l.from))
	l.since, l.from = tally{errors: map[string]int{}}, time.Now()
	return was
}

// during runs f under load and then waits until calm seconds have passed in which no request has
// failed. It checks that nothing was wrong, and that all errors are of these kinds.
func (l *load) during(t *testing.T, what string, f func() error, kinds ...string) tally {
	t.Helper()
	const calm = 5 * time.Second
	l.take()
	begun := time.Now()
	defer func() {
		if t.Failed() {
			t.Logf("%s: %v; now: %v", what, time.Since(begun).Round(time.Millisecond), l.take())
		}
	}()
	if err := f(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	did := time.Since(begun)
	var took time.Duration
	ended := time.Now()
	await(t, what+": no request fails any more", 100*time.Millisecond, func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		from := l.failedAt
		if from.Before(ended) {
			from = ended
		}
		took = from.Sub(ended)
		return time.Since(from) > calm && time.Since(l.newest) < calm/2, nil
	})
	c := l.take()
	t.Logf("%s (took %v): the last error was %v later. %v", what, did.Round(time.Millisecond), took.Round(time.Millisecond), c)
	for e, n := range c.errors {
		if !slices.Contains(kinds, e) {
			t.Errorf("%s: %d requests failed with %s", what, n, e)
		}
	}
	if c.writes == 0 || c.reads == 0 {
		t.Errorf("%s: no write or no read succeeded: %v", what, c)
	}
	l.right(t)
	return c
}

func (l *load) right(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) > 0 {
		t.Errorf("%d answers were wrong, such as: %s", len(l.wrong), strings.Join(l.wrong[:min(5, len(l.wrong))], "\n"))
		l.wrong = nil
	}
}

// verify ends the load, and reads all rows that were acknowledged.
func (l *load) verify(t *testing.T) {
	t.Helper()
	l.finish()
	l.right(t)
	for _, table := range l.tables {
		got := map[key]string{}
		double := 0
		for day := range days {
			ctx, cancel := atMost()
			q := l.query("SELECT id, body FROM "+table+" WHERE day = ?", day)
			rows := q.IterContext(ctx)
			var id int
			var body string
			for rows.Scan(&id, &body) {
				k := key{table, day, id}
				if _, ok := got[k]; ok {
					double++
				}
				got[k] = body
			}
			err := rows.Close()
			cancel()
			if err != nil {
				t.Fatalf("%s, day %d: %v", table, day, err)
			}
		}
		acked, lost := 0, []key{}
		for k, body := range l.acked {
			if k.table != table {
				continue
			}
			acked++
			if got[k] != body {
				lost = append(lost, k)
			}
		}
		t.Logf("%s: %d rows were acknowledged, and there are %d", table, acked, len(got))
		if len(lost) > 0 || double > 0 || acked == 0 {
			t.Errorf("%s: of %d acknowledged rows %d are lost, such as %v; %d are there twice", table, acked, len(lost), lost[:min(5, len(lost))], double)
		}
	}
}
