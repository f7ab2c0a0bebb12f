// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// turnstile is a store that keeps a change of layout in its step until the test lets it go on: it holds the
// request that publishes the next step.
type turnstile struct {
	store.Store
	held chan string   // the step that is to be published
	pass chan struct{} // lets it be published

	mu sync.Mutex
	at string // the present step
}

func (s *turnstile) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *turnstile) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil || !o.Own {
		return l, err
	}
	return turnstileLink{l, s}, nil
}

type turnstileLink struct {
	store.Link
	of *turnstile
}

func (l turnstileLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	const begins = `"change":{"step":"`
	i := bytes.Index(req.Body, []byte(begins))
	if i < 0 {
		l.Link.Send(ctx, req, reply)
		return
	}
	step, _, _ := strings.Cut(string(req.Body[i+len(begins):]), `"`)
	l.of.mu.Lock()
	known := l.of.at == step || l.of.at == ""
	if known {
		l.of.at = step
	}
	l.of.mu.Unlock()
	if known {
		l.Link.Send(ctx, req, reply)
		return
	}
	req.Body = slices.Clone(req.Body)
	go func() {
		l.of.held <- step
		<-l.of.pass
		l.of.mu.Lock()
		l.of.at = step
		l.of.mu.Unlock()
		l.Link.Send(context.WithoutCancel(ctx), req, reply)
	}()
}

// crossing reads scans page by page while the layout of their table changes step by step.
type crossing struct {
	t     *testing.T
	gate  *turnstile
	conn  *difftest.Conn
	door  *Router
	r     *rand.Rand
	noise atomic.Uint64 // what the door's clock shows
	open  []*scanned
	rows  map[int][]int // by key: the values of c of rows that stay, in their order; v is c modulo 5

	judged, refused int
}

// scanned is a scan of which some pages have been read.
type scanned struct {
	kind   string
	parts  []string // statements that together read the table
	states [][]byte // nil: the statement has been read to its end
	rows   []string
	trace  []string
}

// crossingScale is ten minutes: the values of column c are multiples of it.
const crossingScale = 600_000

func (c *crossing) must(text string) {
	c.t.Helper()
	if a, err := c.conn.Query(difftest.Request{Query: text}); err != nil || a.Kind == difftest.Error {
		c.t.Fatalf("%s: %v, %v", text, a, err)
	}
}

var crossingKinds = map[string]string{
	"all":      "SELECT p, c FROM ks.t",
	"filter":   "SELECT p, c FROM ks.t WHERE v = 3 ALLOW FILTERING",
	"distinct": "SELECT DISTINCT p FROM ks.t",
	"per":      "SELECT p, c FROM ks.t PER PARTITION LIMIT 2",
	"limit":    "SELECT p, c FROM ks.t PER PARTITION LIMIT 2 LIMIT 15",
	"group":    "SELECT p, count(*), max(c) FROM ks.t GROUP BY p",
	"groups":   "SELECT p, c, max(v) FROM ks.t GROUP BY p, c PER PARTITION LIMIT 2",
}

// begin begins a scan, or three that read a range of tokens each.
func (c *crossing) begin() {
	kinds := slices.Sorted(maps.Keys(crossingKinds))
	s := &scanned{kind: kinds[c.r.IntN(len(kinds))]}
	text := crossingKinds[s.kind]
	s.parts = []string{text}
	if s.kind != "limit" && c.r.IntN(3) == 0 {
		a, b := c.r.Int64()-1<<62, c.r.Int64()-1<<62
		a, b = min(a, b), max(a, b)
		from, rest, _ := strings.Cut(text, " FROM ks.t")
		if where, filtered := strings.CutPrefix(rest, " WHERE"); filtered {
			rest = " AND" + where
		}
		s.parts = nil
		for _, tokens := range []string{fmt.Sprintf("token(p) <= %d", a), fmt.Sprintf("token(p) > %d AND token(p) <= %d", a, b), fmt.Sprintf("token(p) > %d", b)} {
			s.parts = append(s.parts, from+" FROM ks.t WHERE "+tokens+rest)
		}
	}
	s.states = make([][]byte, len(s.parts))
	known := c.door.state.Load()
	for i := range s.parts {
		if !c.page(s, i) {
			return
		}
	}
	if len(s.parts) == 1 || c.door.state.Load() == known { // otherwise the ranges may be of two layouts
		c.open = append(c.open, s)
	}
}

// cellText prints numbers.
func cellText(cells [][]byte) string {
	var out []string
	for _, cell := range cells {
		n := int64(0)
		for _, b := range cell {
			n = n<<8 | int64(b)
		}
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, " ")
}

// page reads a page of one of the statements of a scan. It returns false if the scan is refused.
func (c *crossing) page(s *scanned, i int) bool {
	size := int32([]int{2, 7, 40}[c.r.IntN(3)])
	c.door.reads.Timeout = time.Duration(min(1, c.r.IntN(3))) // 0: the page does not end early
	known := c.door.state.Load()
	a, err := c.conn.Query(difftest.Request{Query: s.parts[i], PageSize: size, State: s.states[i]})
	if err == nil && a.Kind == difftest.Error && strings.Contains(a.Text, "Invalid value for the paging state") {
		c.refused++
		return false
	}
	if err != nil || a.Kind == difftest.Error {
		c.t.Fatalf("%s: %v, %v", s.parts[i], a, err)
	}
	warned := slices.ContainsFunc(a.Warnings, func(w string) bool { return strings.Contains(w, "begin all parts before the change") })
	table := known.Table("ks", "t")
	passes := table == nil // the store may answer
	if !passes && table.Change != nil && !table.Change.Duty.Both() {
		passes = !table.Change.Duty.New() && table.Change.From.Plain() || table.Change.Duty.New() && table.Change.To.Plain()
	}
	if want := !passes && table.Change != nil && len(s.parts) > 1 && s.states[i] == nil; warned != want && !passes && c.door.state.Load() == known {
		c.t.Fatalf("%s in %q: the warnings are %q", s.parts[i], c.phase(), a.Warnings)
	}
	s.states[i] = a.State
	from := len(s.rows)
	for _, r := range a.Rows {
		s.rows = append(s.rows, cellText(r))
	}
	s.trace = append(s.trace, fmt.Sprintf("%s: part %d, %d rows wanted: %v, state %x", c.phase(), i, size, s.rows[from:], a.State))
	return true
}

// next reads a page of one of the scans that are open.
func (c *crossing) next() {
	n := c.r.IntN(len(c.open))
	s := c.open[n]
	var left []int
	for i, state := range s.states {
		if state != nil {
			left = append(left, i)
		}
	}
	if len(left) > 0 && c.page(s, left[c.r.IntN(len(left))]) {
		return
	}
	c.open = slices.Delete(c.open, n, n+1)
	if len(left) == 0 {
		c.judge(s)
	}
}

// judge compares the rows of a whole scan with those that were there throughout.
func (c *crossing) judge(s *scanned) {
	c.judged++
	var want, got []string
	for p, rows := range c.rows {
		for i, v := range rows {
			line := fmt.Sprint(p, " ", v*crossingScale)
			switch s.kind {
			case "all":
			case "filter":
				if v%5 != 3 {
					continue
				}
			case "distinct":
				if i > 0 {
					continue
				}
				line = fmt.Sprint(p)
			case "per", "limit":
				if i > 1 {
					continue
				}
			case "group":
				if i > 0 {
					continue
				}
				line = fmt.Sprint(p, " ", len(rows), " ", rows[len(rows)-1]*crossingScale)
			case "groups":
				if i > 1 {
					continue
				}
				line += fmt.Sprint(" ", v%5)
			}
			want = append(want, line)
		}
	}
	for _, row := range s.rows {
		var p int
		fmt.Sscan(row, &p)
		if p < 1000 {
			got = append(got, row)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	fault := !slices.Equal(want, got)
	if s.kind == "limit" {
		fault = len(s.rows) != 15 || len(slices.Compact(slices.Clone(got))) != len(got) || slices.ContainsFunc(got, func(r string) bool { return !slices.Contains(want, r) })
	}
	if fault {
		c.t.Fatalf("%s:\n%v\nnot\n%v\n%s", s.parts, got, want, strings.Join(s.trace, "\n"))
	}
}

// churn writes and deletes rows of other partitions, and writes rows that stay again.
func (c *crossing) churn() {
	p, v := 1000+c.r.IntN(20), c.r.IntN(30)
	switch c.r.IntN(5) {
	case 0:
		c.must(fmt.Sprintf("DELETE FROM ks.t WHERE p = %d AND c = %d", p, v*crossingScale))
		return
	case 1:
		c.must(fmt.Sprintf("DELETE FROM ks.t WHERE p = %d", p))
		return
	case 2:
		p = c.r.IntN(len(c.rows))
		v = c.rows[p][c.r.IntN(len(c.rows[p]))]
	}
	c.insert(p, v)
}

func (c *crossing) insert(p, v int) {
	c.must(fmt.Sprintf("INSERT INTO ks.t (p, c, v) VALUES (%d, %d, %d)", p, v*crossingScale, v%5))
}

// tick does one thing that clients do.
func (c *crossing) tick() {
	switch n := c.r.IntN(12); {
	case n < 2:
		c.churn()
	case n < 4 && len(c.open) < 5:
		c.begin()
	case len(c.open) > 0:
		c.next()
	}
}

// phase returns the step of the change as the catalogue has it; "": none is under way.
func (c *crossing) phase() string {
	e, err := c.door.schema.Catalog.Entry(c.t.Context(), "ks", "t")
	if err != nil {
		c.t.Fatal(err)
	}
	if e == nil || e.Change == nil {
		return ""
	}
	return e.Change.Step.String()
}

// change changes the layout. If back is a step, the change is taken back in that step.
func (c *crossing) change(layout, back string) {
	c.t.Helper()
	c.gate.mu.Lock()
	c.gate.at = ""
	c.gate.mu.Unlock()
	alter := difftest.Request{Query: "ALTER TABLE ks.t WITH write_sharding = {" + layout + "}"}
	a, err := c.conn.Query(alter)
	for err == nil && (strings.Contains(a.Text, "is not over yet") || strings.Contains(a.Text, "is being changed already")) {
		a, err = c.conn.Query(alter)
	}
	if err != nil || a.Kind == difftest.Error {
		c.t.Fatalf("%s: %v, %v", alter.Query, a, err)
	}
	waiting, left := "", 0
	for at := c.phase(); at != ""; at = c.phase() {
		if waiting == "" {
			select {
			case waiting = <-c.gate.held:
				left = 20 + c.r.IntN(40)
			default:
			}
		}
		c.tick()
		if left--; waiting == "" || left > 0 {
			continue
		}
		if at == back {
			back = ""
			c.must("ALTER TABLE ks.t WITH write_sharding = {'change': 'rollback'}")
		}
		waiting = ""
		c.gate.pass <- struct{}{}
	}
}

func newCrossing(t *testing.T, with string) *crossing {
	c := &crossing{t: t, gate: &turnstile{Store: embedded(t), held: make(chan string, 10), pass: make(chan struct{})}, r: rand.New(rand.NewPCG(1, 5)), rows: map[int][]int{}}
	c.door = startRouter(t, c.gate)
	c.door.reads.Now = func() time.Time { // one of three times is after the time at which a page pauses
		x := c.noise.Add(0x9e3779b97f4a7c15)
		x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
		return time.Unix(1000+int64(x>>32%3)/2, 0)
	}
	c.conn = dial(t, serveDoor(t, c.gate, c.door), primitive.ProtocolVersion5)
	c.must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	c.must("CREATE TABLE ks.t (p int, c timestamp, v int, PRIMARY KEY (p, c))" + with)
	for p := range 20 {
		for v := range 30 {
			if v == p || c.r.IntN(2*(1+p%8)) == 0 {
				c.rows[p] = append(c.rows[p], v)
				c.insert(p, v)
			}
		}
	}
	return c
}

// TestScansAcrossChanges reads scans page by page while the layout of their table changes, step by step, and while
// changes are taken back. The pages end at random places, many of them between two partitions. Each scan that comes
// to its end shows each row that was there throughout exactly once.
func TestScansAcrossChanges(t *testing.T) {
	const (
		rolls  = "'strategy': 'rollover', 'rows': '10'"
		hashed = "'strategy': 'calculated', 'shards': '3'"
		timed  = "'strategy': 'time', 'by': 'c', 'bucket': '1h', 'shards': '2'"
	)
	for name, test := range map[string]struct {
		with    string
		changes []string
	}{
		"in place": {" WITH write_sharding = {" + hashed + "}", []string{"'shards': '7'"}},
		"plain":    {"", []string{hashed}},
		"time":     {" WITH write_sharding = {" + timed + "}", []string{rolls}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrossing(t, test.with)
			for _, change := range test.changes {
				for _, back := range []string{[]string{"announced", "switching", "switched"}[c.r.IntN(3)], ""} {
					c.change(change, back)
				}
			}
			for len(c.open) > 0 {
				c.next()
			}
			if c.judged < 20 || c.refused > c.judged/2 {
				t.Errorf("%d scans came to their end, %d were refused", c.judged, c.refused)
			}
		})
	}
}
