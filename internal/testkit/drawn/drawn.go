// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Set is a table with its queries and the truth about them.
type Set struct {
	Seed    uint64
	What    string // description
	Table   string
	Target  string // cassandra, scylla, keyspaces or dynamodb
	Names   []string
	Rows    [][]string // "": null
	Queries string
	Truth   Truth

	language string
	camel    bool
	p        *process
	app      application
	arrivals []arrival
	instants map[string]time.Time // the times of a column's texts
	madeAt   map[string]time.Time // the times that ids begin with
	roles    [roles]string        // the columns' names; "": no such column
	time     format
	ids      ider
	unique   bool // the id identifies rows
	dupes    bool // the id nearly identifies rows
	nulls    float64
	noteLen  int
	rate     float64 // rows written a second
	ttl      float64 // seconds; 0: none
	reads    []read
	changes  []change
	batch    *batch // nil: none
	dayTime  format
	entityOf func(int) string
	zeros    bool // entities are codes with leading zeros
	states   int

	distractors []distractor
}

// application is the kind of queries on the table.
type application int

const (
	timeline  application = iota // an entity's rows by time
	items                        // an entity's items by their id
	byID                         // rows by their id, and sometimes an entity's rows
	dated                        // rows of a day
	composite                    // an entity's rows of a kind, by time
	feed                         // an entity's rows by an id that begins with the time
	applications
)

func (a application) String() string {
	return [...]string{"a timeline", "items", "rows by id", "rows of a day", "a composite key", "a feed"}[a]
}

// at returns the position of a column, or -1 if there is none.
func (s *Set) at(name string) int { return slices.Index(s.Names, name) }

// New draws the set of a seed. It draws again if a set is so near to a limit that experts could
// disagree.
func New(seed uint64) *Set {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	app := application(r.IntN(int(applications)))
	target := pick(r, "cassandra", "cassandra", "cassandra", "scylla", "keyspaces", "dynamodb", "dynamodb", "dynamodb")
	for range 100_000 {
		if s := draw(r, seed, app, target); s != nil {
			return s
		}
	}
	panic(fmt.Sprintf("drawn: seed %d: no set", seed))
}

func draw(r *rand.Rand, seed uint64, app application, target string) *Set {
	s := &Set{Seed: seed, Target: target, app: app, language: pick(r, languages...), camel: chance(r, 25), p: drawProcess(r), Table: pick(r, tables...)}
	switch s.app {
	case composite:
		if s.p.kinds == 0 {
			s.p.kinds = pick(r, 6, 10, 20)
		}
	default:
		s.p.kinds, s.p.pair = 0, 0
	}
	s.time, s.dayTime = pick(r, formats...), pick(r, dayFormats...)
	s.entityOf, s.zeros = namer(r)
	s.ids = pick(r, iders...)
	if s.app == feed {
		s.ids, s.time = pick(r, timedIDs...), formats[0]
	}
	s.states = pick(r, 3, 5, 9)
	s.noteLen = pick(r, 0, 12, 60, 250, 1300)
	s.columns(r)
	s.distract(rand.New(rand.NewPCG(seed, 0x5851f42d4c957f2d)))
	s.rates(r)
	if !s.settled() {
		return nil
	}
	s.change(rand.New(rand.NewPCG(seed, 0x2545f4914f6cdd1d)))
	s.batched(rand.New(rand.NewPCG(seed, 0xda942042e4dd58b5)))
	s.arrivals = s.p.drawRows(r)
	s.write(r)
	s.ask(r)
	s.truth()
	s.What = fmt.Sprintf("%s on %s, %s, %s, %d entities, %s", s.app, s.Target, s.p.pattern, s.time.name, len(s.p.weights), s.language)
	if s.fenced() {
		s.What += ", a fence"
	}
	return s
}

// columns draws the columns and their names.
func (s *Set) columns(r *rand.Rand) {
	has := []role{entity}
	if s.p.kinds > 0 {
		has = append(has, kind)
	}
	if s.app != feed || chance(r, 50) {
		has = append(has, when)
	}
	if s.app == dated {
		has = append(has, day)
	}
	needsID := s.app == items || s.app == byID || s.app == dated || s.app == feed
	if needsID || chance(r, 70) {
		has = append(has, id)
		s.unique = true
		if !needsID && chance(r, 20) {
			s.unique, s.dupes = false, true
		}
	}
	if s.dupes { // in a sequence, the next number would be missing
		s.ids = iders[r.IntN(2)]
	}
	has = append(has, status)
	if chance(r, 70) {
		has = append(has, number)
	}
	if s.noteLen > 0 {
		has = append(has, note)
	}
	if chance(r, 30) {
		has = append(has, other)
	}
	if s.app == timeline && chance(r, 15) {
		s.nulls = pick(r, 0.01, 0.03)
	}
	r.Shuffle(len(has), func(i, j int) { has[i], has[j] = has[j], has[i] })
	for _, ro := range has {
		s.roles[ro] = s.name(r, ro)
		s.Names = append(s.Names, s.roles[ro])
	}
}

// rowBytes returns the approximate size of a row in Cassandra's serialization: a header, and for
// each cell two bytes and the value.
func (s *Set) rowBytes() float64 {
	n := 8.0
	for ro, name := range s.roles {
		if name == "" {
			continue
		}
		n += 2 + s.bytesOf(role(ro))
	}
	values, _ := s.distractingBytes()
	return n + values
}

// bytesOf returns the approximate length of a value.
func (s *Set) bytesOf(ro role) float64 {
	switch ro {
	case entity:
		return float64(len(s.entityOf(1)))
	case kind:
		return 6
	case when:
		return 8
	case id:
		return s.ids.bytes
	case status:
		return 3
	case number:
		return 4
	case note:
		return float64(s.noteLen)
	}
	return 4
}

// itemBytes returns the approximate size of a row as DynamoDB or Keyspaces bills it.
func (s *Set) itemBytes() float64 {
	n := 100.0 // Keyspaces' overhead for each row
	if s.Target == "dynamodb" {
		n = 0
	}
	for ro, name := range s.roles {
		switch {
		case name == "":
		case s.Target == "dynamodb":
			of := s.bytesOf(role(ro))
			if role(ro) == when {
				of = float64(len(s.time.write(begins)))
			}
			n += float64(len(name)) + of
		default:
			n += s.bytesOf(role(ro)) + 2
		}
	}
	values, names := s.distractingBytes()
	if s.Target == "dynamodb" {
		values += names
	}
	return n + values
}

// Given returns a set of rows that were not drawn, with an unknown truth. Texts that are RFC 3339
// or a day are times.
func Given(what, table, target, queries string, names []string, rows [][]string) *Set {
	s := &Set{What: what, Table: table, Target: target, Queries: queries, Names: names, Rows: rows, instants: make(map[string]time.Time)}
	for _, row := range rows {
		for i, text := range row {
			for _, layout := range []string{time.RFC3339, time.DateOnly} {
				if at, err := time.Parse(layout, text); err == nil {
					s.instants[names[i]+"\x00"+text] = at
				}
			}
		}
	}
	return s
}

// Instant returns the time that a column's text represents.
func (s *Set) Instant(column, text string) (time.Time, bool) {
	at, ok := s.instants[column+"\x00"+text]
	return at, ok
}

// Made returns the time of a column's text, which is a time or an id that begins with one.
func (s *Set) Made(column, text string) (time.Time, bool) {
	if at, ok := s.Instant(column, text); ok {
		return at, ok
	}
	at, ok := s.madeAt[text]
	return at, ok
}

// WriteCSV writes the rows as a CSV file.
func (s *Set) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(s.Names); err != nil {
		return err
	}
	return c.WriteAll(s.Rows)
}

// write makes rows from the arrivals.
func (s *Set) write(r *rand.Rand) {
	mixed := chance(r, 15) && strings.Contains(s.time.name, "ISO")
	second := layout("", "02.01.2006 15:04:05", time.Second, true)
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 60)
	s.instants, s.madeAt = make(map[string]time.Time), make(map[string]time.Time)
	for i, a := range s.arrivals {
		row := make([]string, len(s.Names))
		put := func(ro role, v string) {
			if s.roles[ro] != "" {
				row[s.at(s.roles[ro])] = v
			}
		}
		t := at(a.at).Truncate(s.time.fine)
		put(entity, s.entityOf(a.entity))
		if s.nulls > 0 && r.Float64() < s.nulls {
			put(entity, "")
		}
		put(kind, fmt.Sprintf("kind-%d", a.kind))
		put(when, s.time.write(t))
		fine := s.time.fine
		if mixed && i%3 == 0 {
			put(when, second.write(t))
			fine = time.Second
		}
		put(day, s.dayTime.write(t.Truncate(24*time.Hour)))
		n := i
		if s.ids.timed != nil {
			text := s.ids.timed(r, t, n)
			put(id, text)
			s.madeAt[text] = t.Truncate(s.ids.fine)
		} else if s.dupes && i > 0 && i%300 == 0 {
			put(id, s.Rows[i-1][s.at(s.roles[id])])
		} else {
			put(id, s.ids.write(r, n))
		}
		put(status, fmt.Sprintf("S%d", min(s.states-1, int(r.ExpFloat64()*float64(s.states)/3))))
		put(number, fmt.Sprint(r.IntN(900)))
		if s.noteLen > 0 {
			from := r.IntN(27)
			put(note, filler[from:from+s.noteLen])
		}
		for ro, instant := range map[role]time.Time{when: t.Truncate(fine), day: t.Truncate(24 * time.Hour)} {
			if name := s.roles[ro]; name != "" {
				s.instants[name+"\x00"+row[s.at(name)]] = instant
			}
		}
		put(other, begins.AddDate(-20, 0, r.IntN(7000)).Format(time.DateOnly))
		s.Rows = append(s.Rows, row)
	}
	s.distracted()
	switch {
	case chance(r, 10):
		slices.Reverse(s.Rows)
	case chance(r, 10):
		r.Shuffle(len(s.Rows), func(i, j int) { s.Rows[i], s.Rows[j] = s.Rows[j], s.Rows[i] })
	}
}

// logUniform draws a rate between two rates. Each order of magnitude is equally likely.
func logUniform(r *rand.Rand, low, high float64) float64 {
	x := math.Exp(math.Log(low) + r.Float64()*(math.Log(high)-math.Log(low)))
	digits := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Round(x/digits) * digits
}
