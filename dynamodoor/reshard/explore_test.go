// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/switches"
)

// The exploration covers one item with two places, or three if a second change follows the first,
// and two doors. A door that does not know the current step may lose its lease at any time, before
// or after it has sent something, and get a new one. There are up to two writes and some reads at
// any door, and the mover, which may take the first change back. The exploration tries every order
// of their acts. Each answer that counts must have a linearization, in which the writes of unknown
// outcome are anywhere after they began, or nowhere. A Scan must show an item that is there all the
// time once. If the places are in two physical tables, the first one is deleted at the end.

// op is a write: put a value, delete, put a value if there is none, or add 1.
type op struct {
	kind  byte // 'p', 'd', 'c', 'i'
	value int8
}

func (o op) String() string {
	return map[byte]string{'p': fmt.Sprint("put ", o.value), 'd': "delete", 'c': fmt.Sprint("put if absent ", o.value), 'i': "add 1"}[o.kind]
}

// apply returns the item after the op, and whether the op's own condition held.
func (o op) apply(v int8) (int8, bool) {
	switch {
	case o.kind == 'p':
		return o.value, true
	case o.kind == 'd':
		return absent, true
	case o.kind == 'c' && v != absent:
		return v, false
	case o.kind == 'c':
		return o.value, true
	case v == absent:
		return 1, true
	}
	return v + 1, true
}

// A place has a value, nothing, or a stub: -1 where nothing was, or less where an item was, by the key
// of its entry in an index.
const (
	absent int8 = 0
	stub   int8 = -1
)

func isStub(v int8) bool { return v <= stub && v != dropped }

// dropped is a place whose physical table was deleted.
const dropped int8 = -101

// entryKey returns the index's key of what is at a place, or 0 if it has no entry there. Adding 1
// to an item does not change its key.
func entryKey(v int8) int8 {
	switch {
	case v == stub:
		return 0
	case isStub(v):
		return stub - 1 - v
	}
	return v / 10
}

// stubOf returns the stub of an item that moves.
func (w *world) stubOf(v int8) int8 {
	switch {
	case !w.scan: // only reads page by page tell stubs apart
		return stub
	case !w.index || Off(StubsInIndexes):
		return stub - 1
	}
	return stub - 1 - entryKey(v)
}

// These are the phases of a request.
const (
	idle uint8 = iota
	under
	answered // the door can send the answer
	over     // the client has the answer
	unknown  // nobody knows whether it was done; it may still be done
	failed   // the store has refused it, because there is no such table
)

// view is a published state of the table: a step of a change.
type view struct {
	change int8
	step   Step
}

func (v view) String() string {
	if v.change == 0 {
		return v.step.String()
	}
	return v.step.String() + " of the second change"
}

// request is a write or a read at a door.
type request struct {
	phase uint8
	door  int8
	view  view // the view that the door uses
	run   Run
	saw   int8 // the item seen at the old place, or the item read
	ok    bool
}

const maxOps = 2

// config is one linearization: the item's value, the ops that are done, those of them whose
// condition failed, and what the current read has seen.
type config struct {
	value      int8
	done, fail uint8
	read       int8 // noRead: the read has seen nothing yet
}

const noRead int8 = -100

// state is one state of the exploration. It is comparable.
type state struct {
	published view
	barrier   view // the last barrier that has passed
	at        int8 // position in the mover's program
	view      [2]view
	lease     [2]bool
	place     [3]int8
	ops       [maxOps]request
	reading   request
	reads     int8
	mover     request
	configs   string
	scanBegan Step
	scanning  bool
	scanned   uint8 // places that the Scan has visited: 1 the old, 2 the new
	looking   uint8 // the place that the Scan is visiting
	scanSaw   int8
	scanOld   int8 // what the read of an index found at the old place; noRead: it has not looked yet
	shown     int8
}

// world describes what is explored.
type world struct {
	ops     []op
	initial int8
	reads   int8
	scan    bool
	index   bool // the Scan is one of an index
	fresh   bool // step moving was just published, and the item was created by it: it is at the new place
	stalls  bool
	second  bool // a second change follows
	apart   bool // the first change is between two physical tables, of which the first is deleted at the end
	back    Step // the step in which the change is taken back; None: it is not
	limit   int
	told    bool // nexts describes the act that leads to each state
}

// places returns the old and the new place of the item in a change.
func places(change int8) (old, now int8) {
	if change == 1 && Off(FreshPlaces) {
		return 1, 0
	}
	return change, change + 1
}

func encode(cs []config) string {
	slices.SortFunc(cs, func(a, b config) int {
		return strings.Compare(string([]byte{byte(a.value), a.done, a.fail, byte(a.read)}), string([]byte{byte(b.value), b.done, b.fail, byte(b.read)}))
	})
	cs = slices.Compact(cs)
	out := make([]byte, 0, 4*len(cs))
	for _, c := range cs {
		out = append(out, byte(c.value), c.done, c.fail, byte(c.read))
	}
	return string(out)
}

func decode(s string) []config {
	out := make([]config, 0, len(s)/4)
	for i := 0; i < len(s); i += 4 {
		out = append(out, config{int8(s[i]), s[i+1], s[i+2], int8(s[i+3])})
	}
	return out
}

// closed adds all linearizations that the requests under way make possible.
func (w *world) closed(s state) state {
	all := decode(s.configs)
	for i := 0; i < len(all); i++ {
		c := all[i]
		add := func(c config) {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
		if s.reading.phase != idle && c.read == noRead {
			n := c
			n.read = c.value
			add(n)
		}
		for k := range w.ops {
			o := &s.ops[k]
			if o.phase == idle || o.phase == over || c.done&(1<<k) != 0 {
				continue
			}
			n := c
			var ok bool
			n.value, ok = w.ops[k].apply(c.value)
			n.done |= 1 << k
			if !ok {
				if o.phase == unknown {
					continue
				}
				n.fail |= 1 << k
			}
			add(n)
		}
	}
	s.configs = encode(all)
	return s
}

// leaseOver reports whether an answer based on a view does not count.
func leaseOver(s *state, door int8, view view) bool {
	return !s.lease[door] || s.view[door] != view
}

// next is a possible next state, with the fault if it is wrong.
type next struct {
	what  string
	s     state
	wrong string
}

func seen(v int8) Seen {
	switch {
	case v == absent:
		return Nothing
	case isStub(v):
		return Stubbed
	}
	return Item
}

// act carries out the next act of a request on the item, unless that needs a table that is gone.
func (w *world) act(s *state, r *request, o *op) {
	gave := OK
	from, to := places(r.view.change)
	old, now := &s.place[from], &s.place[to]
	if *old == dropped && r.run.Act() != LookNew && r.run.Act() != WriteNew {
		r.phase = failed
		return
	}
	switch r.run.Act() {
	case LookOld:
		r.saw = *old
		gave = seen(*old)
	case LookNew:
		if gave = seen(*now); gave == Item {
			r.saw = *now
		} else if isStub(r.saw) {
			r.saw = absent
		}
	case Stub:
		if gave = Changed; *old == absent {
			if *old, gave = stub, OK; Off(EmptyStubs) {
				*old = w.stubOf(absent)
			}
		}
	case Move:
		same := *old == r.saw
		if Off(Unchanged) {
			same = *old > 0
		}
		if gave = Changed; same {
			gave = OK
			switch {
			case *now == absent:
				*now = r.saw
			case Off(NewWins):
				*now = r.saw
			}
			if *old = w.stubOf(r.saw); Off(LeavesStub) {
				*old = absent
			}
		}
		if r.run.kind == read && gave == OK {
			r.saw = absent
		}
	case WriteOld, Guard:
		switch {
		case isStub(*old) && r.run.Act() == Guard:
			gave = Stubbed
		case isStub(*old) && o.kind == 'i':
			r.ok = true // the stub keeps its mark
		case isStub(*old) && o.kind == 'c':
			r.ok = false
		case isStub(*old):
			*old, r.ok = o.apply(absent)
		default:
			*old, r.ok = o.apply(*old)
		}
	case WriteNew:
		*now, r.ok = o.apply(*now)
	}
	r.run = r.run.After(gave)
	switch r.run.Act() {
	case Answer:
		if r.run.kind == read && isStub(r.saw) {
			r.saw = absent
		}
		r.phase = answered
	case AnswerOld:
		if isStub(r.saw) {
			r.saw = absent
		}
		r.phase = answered
	}
}

// program is one action of the mover: it publishes steps, waits, and moves the item.
type program struct {
	what byte // 'p' publish, 'b' barrier, 'm' move, 's' delete the stub
	view view
}

func (w *world) program() []program {
	var all []program
	changes := int8(1)
	if w.second {
		changes = 2
	}
	for n := range changes {
		for s := None.Next(); s != None; s = s.Next() {
			at := view{n, s}
			all = append(all, program{'p', at}, program{'b', at})
			switch s {
			case Moving, Closing:
				all = append(all, program{'m', at})
			case Cleaning:
				all = append(all, program{'s', at})
			}
			if w.back == s && s.Revocable() {
				return append(all, program{'p', view{}}, program{'b', view{}})
			}
		}
	}
	return all
}

// last returns the place of the item at the end.
func (w *world) last() int8 {
	if w.back != None && w.back.Revocable() {
		return 0
	}
	if w.second {
		_, now := places(1)
		return now
	}
	return 1
}

// nexts returns all possible next states.
func (w *world) nexts(s state, prog []program) (out []next) {
	add := func(n state, wrong string, format string, args ...any) {
		what := ""
		if w.told {
			what = fmt.Sprintf(format, args...)
		}
		out = append(out, next{what, n, wrong})
	}
	for i := range w.ops {
		o := &s.ops[i]
		switch o.phase {
		case idle:
			if i > 0 && s.ops[i-1].phase == idle {
				continue // the requests that have not begun are symmetric
			}
			for d := int8(0); d < 2; d++ {
				if s.lease[d] {
					n := s
					n.ops[i] = request{phase: under, door: d, view: s.view[d], run: Write(s.view[d].step)}
					add(w.closed(n), "", "%v begins at door %d, which goes by %v", w.ops[i], d, s.view[d])
				}
			}
		case under:
			n := s
			w.act(&n, &n.ops[i], &w.ops[i])
			if n.ops[i].phase == failed {
				var left []config
				for _, c := range decode(n.configs) {
					if c.done&(1<<i) == 0 {
						left = append(left, c)
					}
				}
				n.ops[i], n.configs = request{phase: over}, encode(left)
				wrong := ""
				if len(left) == 0 {
					wrong = fmt.Sprintf("%v is refused, and was done", w.ops[i])
				}
				add(n, wrong, "%v finds no table", w.ops[i])
				continue
			}
			if !w.scan || n.place[1] > 0 || n.place[0] > 0 {
				add(n, "", "%v: act %d: places %v", w.ops[i], o.run.Act(), n.place)
			}
		case answered:
			n := s
			if leaseOver(&s, o.door, o.view) && !Off(AnswerCounts) {
				n.ops[i] = request{phase: unknown}
				add(n, "", "%v: nobody knows whether it was done", w.ops[i])
				continue
			}
			var left []config
			for _, c := range decode(w.closed(s).configs) {
				if c.done&(1<<i) != 0 && (c.fail&(1<<i) == 0) == o.ok {
					left = append(left, c)
				}
			}
			wrong := ""
			if len(left) == 0 {
				wrong = fmt.Sprintf("%v is answered %v, which no order explains", w.ops[i], o.ok)
			}
			n.ops[i] = request{phase: over}
			n.configs = encode(left)
			add(n, wrong, "%v is answered %v", w.ops[i], o.ok)
		}
	}
	for d := range s.view {
		if s.view[d] != s.published || !s.lease[d] {
			n := s
			n.view[d], n.lease[d] = s.published, true
			add(n, "", "door %d learns of %v", d, s.published)
		}
		busy := s.reading.phase != idle && s.reading.door == int8(d)
		for i := range w.ops {
			busy = busy || (s.ops[i].phase == under || s.ops[i].phase == answered) && s.ops[i].door == int8(d)
		}
		if s.lease[d] && s.view[d] != s.published && (w.stalls || !busy) {
			n := s
			n.lease[d] = false
			add(n, "", "the lease of door %d ends", d)
		}
	}
	switch r := &s.reading; {
	case r.phase == idle && s.reads > 0:
		for d := int8(0); d < 2; d++ {
			if s.lease[d] {
				n := s
				n.reads--
				n.reading = request{phase: under, door: d, view: s.view[d], run: Read(s.view[d].step)}
				add(w.closed(n), "", "a read begins at door %d, which goes by %v", d, s.view[d])
			}
		}
	case r.phase == under:
		n := s
		w.act(&n, &n.reading, nil)
		if n.reading.phase == failed {
			var all []config
			for _, c := range decode(n.configs) {
				c.read = noRead
				all = append(all, c)
			}
			n.reading, n.configs = request{}, encode(all)
			add(n, "", "the read finds no table")
			break
		}
		add(n, "", "the read: act %d: places %v", r.run.Act(), n.place)
	case r.phase == answered:
		n := s
		n.reading = request{}
		counts := !leaseOver(&s, r.door, r.view) || Off(AnswerCounts)
		var left []config
		for _, c := range decode(w.closed(s).configs) {
			if !counts || c.read == r.saw {
				c.read = noRead
				left = append(left, c)
			}
		}
		wrong := ""
		if len(left) == 0 {
			wrong = fmt.Sprintf("a read answers %d, which no order explains", r.saw)
		}
		n.configs = encode(left)
		add(n, wrong, "the read answers %d (counts: %v)", r.saw, counts)
	}
	out = append(out, w.scans(s)...)
	if int(s.at) < len(prog) {
		if n, what, ok := w.moves(s, prog[s.at]); ok {
			add(n, "", "mover: %s", what)
		}
	} else if s.reading.phase == idle && !slices.ContainsFunc(s.ops[:len(w.ops)], func(o request) bool { return o.phase == under || o.phase == answered }) {
		// Every reader now reads the new place.
		if !slices.ContainsFunc(decode(w.closed(s).configs), func(c config) bool { return c.value == max(absent, s.place[w.last()]) }) {
			add(s, fmt.Sprintf("at the end there is %d, which no order explains", s.place[w.last()]), "all is done")
		}
	}
	return out
}

func (w *world) moves(s state, p program) (n state, what string, ok bool) {
	n = s
	n.at++
	switch p.what {
	case 'p':
		n.published = p.view
		return n, "publishes " + p.view.String(), true
	case 'b':
		for d := range s.view {
			if s.lease[d] && s.view[d] != p.view && !Off(Barriers) {
				return s, "", false
			}
		}
		n.barrier = p.view
		return n, "passes the barrier of " + p.view.String(), true
	case 's':
		switch old, _ := places(p.view.change); {
		case w.apart && p.view.change == 0:
			n.place[old] = dropped
			return n, "deletes the first table", true
		case isStub(s.place[old]):
			n.place[old] = absent
		}
		return n, "deletes the stub", true
	}
	if s.mover.phase == idle {
		n.at--
		n.mover = request{phase: under, view: p.view, run: Shift()}
		return n, "begins to move", true
	}
	n.at--
	w.act(&n, &n.mover, nil)
	if n.mover.phase == answered {
		n.at++
		n.mover = request{}
	}
	return n, fmt.Sprintf("moves: places %v", n.place), true
}

// scans returns the next states of a Scan. A visit of a place is two acts: the page, and the read
// of the other place.
func (w *world) scans(s state) (out []next) {
	if !w.scan {
		return nil
	}
	if !s.scanning {
		for d := range s.view {
			if s.lease[d] && s.shown == 0 && s.scanned == 0 {
				n := s
				n.scanning, n.scanBegan = true, s.view[d].step
				out = append(out, next{"a scan begins by " + s.view[d].String(), n, ""})
			}
		}
		return out
	}
	if s.scanBegan < Settled && s.barrier.step >= Cleaning {
		return nil // the Scan must begin again
	}
	if s.looking == 0 {
		for place := uint8(1); place <= 2; place++ {
			if s.scanned&place == 0 {
				n := s
				n.looking = place
				n.scanSaw, n.scanOld = s.place[place-1], noRead
				what := fmt.Sprintf("the scan visits place %d: %d", place, n.scanSaw)
				if w.index && entryKey(n.scanSaw) != entryKey(w.initial) { // the index has no such entry
					n, wrong := w.scanned(n, false)
					out = append(out, next{what + ", no entry", n, wrong})
					continue
				}
				out = append(out, next{what, n, ""})
			}
		}
		return out
	}
	n := s
	atOld := s.looking == 1
	old, now := s.place[0], s.place[1]
	switch {
	case !atOld:
		now = s.scanSaw
	case !w.index:
		old = s.scanSaw
	case s.scanOld == noRead && s.scanBegan < Settled: // an entry may be behind: the read looks at the old place, then at the new one
		n.scanOld = old
		return append(out, next{fmt.Sprintf("the scan finds %d at the old place", old), n, ""})
	default:
		old = s.scanOld
	}
	fits := func(v int8) bool {
		if w.index {
			return entryKey(v) == entryKey(w.initial)
		}
		return v != absent && v != stub
	}
	n, wrong := w.scanned(n, Shows(s.scanBegan, atOld, seen(old), seen(now), fits(old), fits(now)))
	return append(out, next{fmt.Sprintf("the scan has shown it %d times", n.shown), n, wrong})
}

// scanned ends the Scan's visit of a place, at which it has shown the item or not.
func (w *world) scanned(s state, shown bool) (n state, wrong string) {
	if shown {
		s.shown++
	}
	s.scanned |= s.looking
	s.looking, s.scanSaw, s.scanOld = 0, absent, absent
	if s.scanned == 3 && s.shown != 1 {
		wrong = fmt.Sprintf("a scan that began by %v shows the item %d times", s.scanBegan, s.shown)
	}
	return s, wrong
}

// explore tries all states. It returns their number and the shortest way to a fault.
func (w *world) explore() (states int, fault []string) {
	first := state{lease: [2]bool{true, true}, place: [3]int8{w.initial}, reads: w.reads, configs: encode([]config{{value: w.initial, read: noRead}})}
	if w.fresh {
		at := view{step: Moving}
		first.place = [3]int8{1: w.initial}
		first.published, first.barrier = at, view{step: Stubbing}
		first.view = [2]view{at, {step: Stubbing}}
		first.at = int8(slices.Index(w.program(), program{'b', at}))
	}
	prog := w.program()
	index := map[state]int32{first: 0}
	all, from := []state{first}, []int32{-1}
	for i := 0; i < len(all); i++ {
		for k, n := range w.nexts(all[i], prog) {
			if n.wrong != "" {
				return len(all), w.way(all, from, int32(i), k)
			}
			if _, ok := index[n.s]; !ok {
				index[n.s] = int32(len(all))
				all, from = append(all, n.s), append(from, int32(i))
			}
		}
		if w.limit > 0 && len(all) > w.limit {
			return len(all), []string{"the limit"}
		}
	}
	return len(all), nil
}

// way returns the acts that lead from the first state to a fault. The fault is the k-th state that follows state i.
func (w *world) way(all []state, from []int32, i int32, k int) []string {
	w.told = true
	defer func() { w.told = false }()
	prog := w.program()
	last := w.nexts(all[i], prog)[k]
	way := []string{last.what + "  <== " + last.wrong}
	for ; from[i] >= 0; i = from[i] {
		nexts := w.nexts(all[from[i]], prog)
		way = append(way, nexts[slices.IndexFunc(nexts, func(n next) bool { return n.s == all[i] })].what)
	}
	slices.Reverse(way)
	return way
}

var (
	put20, put30 = op{'p', 20}, op{'p', 30}
	remove, add1 = op{'d', 0}, op{'i', 0}
	create       = op{'c', 40}
)

// TestExplored checks that the protocol loses nothing, brings nothing back, and shows an item once.
func TestExplored(t *testing.T) {
	for _, w := range []world{
		{ops: []op{add1, create}, initial: absent},
		{ops: []op{put20}, initial: absent, reads: 2, stalls: true},
		{ops: []op{remove}, initial: 10, reads: 1, stalls: true},
		{ops: []op{put20, remove}, initial: 10, stalls: true},
		{ops: []op{add1, put20}, initial: absent, stalls: true},
		{ops: []op{create, remove}, initial: 10, stalls: true},
		{ops: []op{add1}, initial: 10, scan: true},
		{initial: 10, scan: true, stalls: true, reads: 1},
		{ops: []op{add1}, initial: 10, scan: true, index: true},
		{initial: 10, scan: true, index: true, stalls: true, reads: 1},
		{ops: []op{create}, initial: 10, scan: true, fresh: true},
		{ops: []op{add1}, initial: 10, scan: true, index: true, fresh: true},
		{ops: []op{put20, add1}, initial: 10, stalls: true, back: Looking},
		{ops: []op{remove}, initial: 10, reads: 1, stalls: true, back: Looking},
		{ops: []op{add1}, initial: 10, stalls: true, second: true},
		{ops: []op{create}, initial: absent, stalls: true, second: true},
		{ops: []op{put20}, initial: 10, reads: 1, second: true},
		{initial: 10, reads: 2, stalls: true, second: true},
		{ops: []op{remove}, initial: 10, reads: 1, stalls: true, apart: true},
		{ops: []op{create, add1}, initial: 10, stalls: true, apart: true},
		{ops: []op{add1}, initial: 10, scan: true, apart: true},
		{initial: 10, scan: true, stalls: true, reads: 1, apart: true},
		{ops: []op{add1}, initial: 10, stalls: true, second: true, apart: true},
	} {
		if (raceDetector || testing.Short()) && len(w.ops)+int(w.reads) > 1 {
			continue // the other worlds cover every rule without it
		}
		n, fault := w.explore()
		t.Logf("%d states: %v, from %d, %d reads, scan %v (of an index %v), stalls %v, apart %v", n, w.ops, w.initial, w.reads, w.scan, w.index, w.stalls, w.apart)
		if fault != nil {
			t.Errorf("%v, from %d:\n%s", w.ops, w.initial, strings.Join(fault, "\n"))
		}
	}
}

// TestEachRuleIsNeeded checks that there is a fault if any one rule is off.
func TestEachRuleIsNeeded(t *testing.T) {
	stalled := func(initial int8, ops ...op) world { return world{ops: ops, initial: initial, stalls: true} }
	worlds := map[Rule]world{
		LookingStep:    stalled(10, put20, remove),
		StubbingStep:   stalled(absent, put20, put30),
		ClosingStep:    {ops: []op{put20}, initial: absent, reads: 2, stalls: true},
		Barriers:       stalled(10, put20, add1),
		AnswerCounts:   stalled(10, put20, add1),
		WritesLook:     stalled(10, put20, add1),
		OldFirst:       {initial: 10, reads: 1},
		NewWins:        stalled(absent, add1, put20),
		LeavesStub:     {ops: []op{create, remove}, initial: 10, stalls: true, reads: 1},
		Unchanged:      stalled(10, put20, add1),
		Guarded:        stalled(10, put20, remove),
		OldPlaceShows:  {initial: 10, scan: true},
		StubsInIndexes: {initial: 10, scan: true, index: true},
		EmptyStubs:     {ops: []op{create}, initial: 10, scan: true, fresh: true},
		FreshPlaces:    {ops: []op{add1}, initial: 10, stalls: true, second: true},
		StubsStay:      {ops: []op{put20}, initial: 10, stalls: true, back: Moving},
	}
	for rule, w := range worlds {
		if raceDetector && !w.scan {
			continue // the other rules are tried without it
		}
		restore := rules.Off(rule)
		n, fault := w.explore()
		restore()
		if fault == nil {
			t.Errorf("without rule %d nothing is found in %d states: %v", rule, n, w.ops)
			continue
		}
		t.Logf("without rule %d, after %d states:\n%s", rule, n, strings.Join(fault, "\n"))
	}
	for _, rule := range switches.Below(end) {
		if _, tried := worlds[rule]; !tried {
			t.Errorf("rule %d is not tried", rule)
		}
	}
}
