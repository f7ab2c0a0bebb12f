// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/keys"
)

// Simulation counts rows. It is for one goroutine.
type Simulation struct {
	o        Options
	columns  []column
	keys     []*key
	computed []*computed
	ring     *ring
	rows     int64

	attributes []*attribute
	part       int // values that each key and attribute may count

	parser datetime.Parser
	by     [][]byte // scratch
	buf    []byte
	vs     [][]byte
}

// column is a column that some key uses, with its value in the current row.
type column struct {
	name  string
	typ   *value.Type // nil: text as it is
	text  string
	null  bool
	value []byte // serialized; the text's bytes if the partitioner takes text

	timed bool            // some key takes a period of it
	order *datetime.Order // of its dates; nil: unknown
	ms    int64           // its time
}

// key holds a key's counts, and its place in the current row.
type key struct {
	Key
	parts      []slot
	absent     int        // the column that is null in the current row; -1: none
	partitions []int      // the current row's partition, by number of partitions
	token      int        // index in the ring
	number     int64      // under Identity
	tallies    [][]int64  // rows by partition, by number of partitions
	tokens     *tokenRows // under Identity, in place of tallies
	rows       int64
	nulls      []int64 // rows without a place, by the column that is null
	perToken   []int64
	values     []*values // of the key as it is; with Detail, also with other numbers of salts
	moment     *moment   // nil: none, or no row came
}

// slot is a component of a key: a column, its period, or a computed or counted number.
type slot struct {
	function keys.Function
	column   int // -1: neither a column nor a period
	computed *computed
	drawn    *drawn
	rollover *rollover
	period   datetime.Period
	start    int64 // of the current row's period
}

// number returns the value of a computed or counted component.
func (p *slot) number() int {
	switch {
	case p.computed != nil:
		return p.computed.value
	case p.drawn != nil:
		return p.drawn.value
	case p.rollover != nil:
		return p.rollover.value
	}
	return 0
}

// Row is a row to count.
type Row struct {
	Values []string // of Options.Columns
	Null   []bool   // which of them are null; nil: none
	Bytes  int64    // that the row takes
}

// BadValue is the error for a row that some key cannot place.
type BadValue struct {
	Column string // "": no single column
	Reason string
}

func (e *BadValue) Error() string {
	if e.Column == "" {
		return e.Reason
	}
	return fmt.Sprintf("column %q: %s", e.Column, e.Reason)
}

// New prepares a simulation.
func New(o Options) (*Simulation, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Simulation{o: o}
	times := o.TimeColumns()
	for _, c := range o.keyColumns() {
		t := o.Types[c]
		if t != nil && t.Kind == value.Text {
			t = nil
		}
		col := column{name: c, typ: t, timed: slices.Contains(times, c)}
		if order, ok := o.DateOrders[c]; ok {
			col.order = &order
		}
		s.columns = append(s.columns, col)
	}
	if o.Ring != nil {
		s.ring = newRing(*o.Ring)
	}
	s.part = part(2*len(o.Keys) + len(o.Attributes)) // a key may have a moment
	if len(o.Attributes) == 0 {
		s.part = part(len(o.Keys))
	}
	for _, k := range o.Keys {
		s.keys = append(s.keys, s.newKey(k))
	}
	all := o.Columns()
	for _, name := range o.Attributes {
		s.attributes = append(s.attributes, newAttribute(name, slices.Index(all, name), s.part))
	}
	return s, nil
}

func (s *Simulation) column(name string) int {
	return slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
}

func (s *Simulation) newKey(k Key) *key {
	out := &key{Key: k, nulls: make([]int64, len(s.columns))}
	if s.o.Partitioner == Identity {
		out.tokens = newTokenRows()
	} else {
		for _, n := range append([]int{s.o.Partitions}, s.o.Sweep...) {
			out.tallies = append(out.tallies, make([]int64, n))
		}
		out.partitions = make([]int, len(out.tallies))
	}
	if s.ring != nil {
		out.perToken = make([]int64, len(s.ring.tokens))
	}
	out.values = append(out.values, newValues(0, s.part))
	if s.o.Detail {
		for _, n := range variants(k.Expr) {
			out.values = append(out.values, newValues(n, detailSample))
		}
	}
	for i, p := range k.Expr.Parts {
		out.parts = append(out.parts, s.newSlot(p, uint64(len(s.keys))<<32+uint64(i)))
	}
	return out
}

// newSlot prepares a component. number distinguishes it from all others.
func (s *Simulation) newSlot(p keys.Part, number uint64) slot {
	out := slot{function: p.Function, column: -1}
	switch {
	case p.Function == keys.Column:
		out.column = s.column(p.Columns[0])
	case p.Function.Period():
		out.column, out.period = s.column(p.Columns[0]), periods[p.Function]
	case p.Function == keys.Random:
		out.drawn = newDrawn(p.N, s.o.Seed, number)
	case p.Function == keys.Rollover:
		out.rollover = newRollover(p)
	default:
		text := p.String()
		i := slices.IndexFunc(s.computed, func(c *computed) bool { return c.text == text })
		if i < 0 {
			i = len(s.computed)
			s.computed = append(s.computed, newComputed(p, s.column, s.o.CompareSalts))
		}
		out.computed = s.computed[i]
	}
	return out
}

// Add counts a row. row holds the values of Options.Columns. The error is a *BadValue, and then the
// row is not counted; or it is an *Ambiguous, or says what cannot be counted.
func (s *Simulation) Add(row []string) error { return s.AddRow(&Row{Values: row}) }

// AddRow counts a row as Add does, but the row may have nulls. It counts for the keys whose columns
// are not null.
func (s *Simulation) AddRow(row *Row) error {
	for i := range s.columns {
		c := &s.columns[i]
		c.text, c.null = row.Values[i], row.Null != nil && row.Null[i]
		if c.null {
			continue
		}
		if err := c.set(&s.parser); err != nil {
			return err
		}
	}
	for _, c := range s.computed {
		if c.null = slices.ContainsFunc(c.columns, func(i int) bool { return s.columns[i].null }); !c.null {
			c.value = c.of(s.o.Partitioner, s.values(c), c.part.N)
		}
	}
	for _, k := range s.keys {
		if k.absent = s.absent(k); k.absent >= 0 {
			continue
		}
		if err := s.prepare(k); err != nil {
			return err
		}
		if err := s.place(k); err != nil {
			return err
		}
	}
	s.count(row)
	return nil
}

// absent returns the first column of a key that is null in the current row, or that is the whole
// key and empty. Cassandra and DynamoDB refuse such a key.
func (s *Simulation) absent(k *key) int {
	for i := range k.parts {
		p := &k.parts[i]
		if p.column >= 0 && s.columns[p.column].null {
			return p.column
		}
		if p.computed != nil && p.computed.null {
			return p.computed.columns[slices.IndexFunc(p.computed.columns, func(i int) bool { return s.columns[i].null })]
		}
	}
	if p := &k.parts[0]; len(k.parts) == 1 && p.function == keys.Column && s.o.Partitioner.Tokens() && len(s.columns[p.column].value) == 0 {
		return p.column
	}
	return -1
}

// prepare computes the current row's periods, draws and rollovers.
func (s *Simulation) prepare(k *key) error {
	for i := range k.parts {
		p := &k.parts[i]
		switch {
		case p.function.Period():
			p.start = p.period.Start(s.columns[p.column].ms)
		case p.drawn != nil:
			p.drawn.draw()
		}
	}
	for i := range k.parts {
		p := &k.parts[i]
		if p.rollover == nil {
			continue
		}
		s.buf = s.buf[:0]
		for j := range k.parts {
			if q := &k.parts[j]; q.rollover == nil {
				s.buf = s.appendIdentity(s.buf, q, q.number())
			}
		}
		if !p.rollover.look(partitioner.Hash(s.buf)) {
			return fmt.Errorf("key %s: its other components have more than %d values, and a rollover counts the rows of each", k.Text, maxRollovers)
		}
	}
	return nil
}

// count counts the current row, which has a place.
func (s *Simulation) count(row *Row) {
	s.rows++
	for _, c := range s.computed {
		if !c.null {
			c.count(s.o.Partitioner, s.values(c))
		}
	}
	for _, k := range s.keys {
		if k.absent >= 0 {
			k.nulls[k.absent]++
			continue
		}
		if k.rows == 0 && len(s.attributes) > 0 {
			k.moment = s.newMoment(k, s.part)
		}
		k.rows++
		for i, tally := range k.tallies {
			tally[k.partitions[i]]++
		}
		if k.tokens != nil {
			k.tokens.add(k.number)
		}
		if s.ring != nil {
			k.perToken[k.token]++
		}
		for i := range k.parts {
			if r := k.parts[i].rollover; r != nil {
				r.count()
			}
		}
		s.hashValues(k)
		for _, v := range k.values {
			v.add(row.Bytes)
		}
		if m := k.moment; m != nil {
			m.values.hash = s.hashOf(m.parts)
			m.values.add(row.Bytes)
		}
	}
	for _, a := range s.attributes {
		a.add(row, &s.parser)
	}
}

// set reads the column's value, which is not null.
func (c *column) set(p *datetime.Parser) error {
	if c.timed {
		if err := c.setTime(p); err != nil {
			return err
		}
	}
	if c.typ == nil {
		c.value = append(c.value[:0], c.text...)
		return nil
	}
	if c.text == "" && c.typ.Kind != value.Ascii && c.typ.Kind != value.Blob {
		return &BadValue{c.name, fmt.Sprintf("is empty, which is no %s", c.typ)}
	}
	v, err := c.typ.FromString(c.text)
	if err == nil {
		c.value = v
		return nil
	}
	// Times and dates may be written in other forms than CQL's.
	if c.typ.Kind == value.Timestamp || c.typ.Kind == value.Date {
		ms, other := timeOf(p, c.order, c.text)
		switch {
		case errors.Is(other, errAmbiguous):
			return c.refused(other)
		case other == nil && c.typ.Kind == value.Timestamp:
			c.value = appendPeriod(c.value[:0], datetime.Whole, ms)
			return nil
		case other == nil:
			c.value = appendPeriod(c.value[:0], datetime.Day, datetime.Day.Start(ms))
			return nil
		}
	}
	return &BadValue{c.name, fmt.Sprintf("%.60q is no %s (%v)", c.text, c.typ, err)}
}

// values returns the canonical serialized values of a computed part's columns.
func (s *Simulation) values(c *computed) [][]byte {
	s.by = s.by[:0]
	for _, i := range c.columns {
		v := s.columns[i].value
		if t := s.columns[i].typ; t != nil && !t.CanonicalIsSame() {
			v = t.Canonical(nil, v)
		}
		s.by = append(s.by, v)
	}
	return s.by
}

// place finds the current row's partitions under a key, and the range of its token.
func (s *Simulation) place(k *key) error {
	switch {
	case s.o.Partitioner == Identity:
		return s.identify(k)
	case !s.o.Partitioner.Tokens():
		s.buf = s.buf[:0]
		for i := range k.parts {
			if i > 0 {
				s.buf = append(s.buf, '#')
			}
			s.buf = s.appendText(s.buf, &k.parts[i])
		}
		for i, tally := range k.tallies {
			k.partitions[i] = s.o.Partitioner.mod(s.buf, len(tally))
		}
		return nil
	}
	at, err := s.serialize(k)
	if err != nil {
		return err
	}
	position := s.o.Partitioner.position(s.buf[at:])
	for i, tally := range k.tallies {
		k.partitions[i] = rangeOf(position, len(tally))
	}
	if s.ring != nil {
		k.token = s.ring.find(position)
	}
	return nil
}

// identify finds the current row's token under Identity.
func (s *Simulation) identify(k *key) (err error) {
	p := &k.parts[0]
	switch {
	case p.column < 0:
		k.number = int64(p.number())
	case p.function.Period():
		k.number = periodToken(p.period, p.start)
	default:
		c := &s.columns[p.column]
		if k.number, err = number(&s.parser, c.order, c.text); err != nil {
			if errors.Is(err, errNoTime) {
				return &BadValue{c.name, fmt.Sprintf("%.60q is no number and no time, and identity has no other tokens", c.text)}
			}
			return c.refused(err)
		}
	}
	return nil
}

// appendText appends a component as text.
func (s *Simulation) appendText(dst []byte, p *slot) []byte {
	switch {
	case p.function.Period():
		return p.period.AppendText(dst, p.start)
	case p.column >= 0:
		return append(dst, s.columns[p.column].text...)
	}
	return strconv.AppendInt(dst, int64(p.number()), 10)
}

// serialize writes the partition key of the current row to the buffer, from at on.
func (s *Simulation) serialize(k *key) (at int, err error) {
	s.buf, s.vs = s.buf[:0], s.vs[:0]
	for i := range k.parts {
		p := &k.parts[i]
		if p.function == keys.Column {
			v := s.columns[p.column].value
			if len(v) > partitioner.MaxComponent {
				return 0, &BadValue{s.columns[p.column].name, fmt.Sprintf("has %d bytes; a partition key has at most %d", len(v), partitioner.MaxComponent)}
			}
			s.vs = append(s.vs, v)
			continue
		}
		// Appending may move the buffer. Slices taken from it before stay valid.
		at := len(s.buf)
		if p.column >= 0 {
			s.buf = appendPeriod(s.buf, p.period, p.start)
		} else {
			s.buf = appendInt(s.buf, p.number())
		}
		s.vs = append(s.vs, s.buf[at:])
	}
	at = len(s.buf)
	s.buf = partitioner.AppendComposite(s.buf, s.vs...)
	if n := len(s.buf) - at; n > partitioner.MaxComponent {
		return 0, &BadValue{"", fmt.Sprintf("the key %s has %d bytes; a partition key has at most %d", k.Text, n, partitioner.MaxComponent)}
	}
	return at, nil
}

// joined returns the published form of the values that write_sharding hashes.
func joined(by [][]byte) []byte { return partitioner.AppendComposite(nil, by...) }
