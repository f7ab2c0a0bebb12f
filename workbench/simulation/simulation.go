package simulation

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
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

	by  [][]byte // scratch
	buf []byte
	vs  [][]byte
}

// column is a column that some key uses, and its value in the current row.
type column struct {
	name  string
	typ   *value.Type // nil: text as it is
	text  string
	value []byte // serialized; the text's bytes under a modulo
}

// key is a key's tallies, and its place in the current row.
type key struct {
	Key
	parts     []slot
	partition int
	token     int // index in the ring
	sizes     []int64
	perToken  []int64
	values    []*values // the key as it is, then with other numbers of salts; nil without Detail
}

// slot is a component of a key: a column, or what is computed.
type slot struct {
	column   int // -1 where it is computed
	computed *computed
}

// A BadValue is a row that some key cannot place.
type BadValue struct {
	Column string // "" where it is not one column
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
	for _, c := range o.Columns() {
		t := o.Types[c]
		if t != nil && t.Kind == value.Text {
			t = nil
		}
		s.columns = append(s.columns, column{name: c, typ: t})
	}
	if o.Ring != nil {
		s.ring = newRing(*o.Ring)
	}
	for _, k := range o.Keys {
		s.keys = append(s.keys, s.newKey(k))
	}
	return s, nil
}

func (s *Simulation) column(name string) int {
	return slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
}

func (s *Simulation) newKey(k Key) *key {
	out := &key{Key: k, sizes: make([]int64, s.o.Partitions)}
	if s.ring != nil {
		out.perToken = make([]int64, len(s.ring.tokens))
	}
	if s.o.Detail {
		out.values = append(out.values, newValues(0))
		for _, n := range variants(k.Expr) {
			out.values = append(out.values, newValues(n))
		}
	}
	for _, p := range k.Expr.Parts {
		if p.Function == keys.Column {
			out.parts = append(out.parts, slot{column: s.column(p.Columns[0])})
			continue
		}
		text := p.String()
		i := slices.IndexFunc(s.computed, func(c *computed) bool { return c.text == text })
		if i < 0 {
			i = len(s.computed)
			s.computed = append(s.computed, newComputed(p, s.column, s.o.CompareSalts))
		}
		out.parts = append(out.parts, slot{column: -1, computed: s.computed[i]})
	}
	return out
}

// Add counts a row; row is the values of Options.Columns. The error is a *BadValue,
// and then the row is not counted.
func (s *Simulation) Add(row []string) error { return s.AddSized(row, 0) }

// AddSized is Add of a row that takes so many bytes, for Options.Detail.
func (s *Simulation) AddSized(row []string, bytes int64) error {
	for i := range s.columns {
		if err := s.columns[i].set(row[i]); err != nil {
			return err
		}
	}
	for _, c := range s.computed {
		c.value = c.of(s.o.Partitioner, s.values(c), c.part.N)
	}
	for _, k := range s.keys {
		if err := s.place(k); err != nil {
			return err
		}
	}
	s.rows++
	for _, c := range s.computed {
		c.count(s.o.Partitioner, s.values(c))
	}
	for _, k := range s.keys {
		k.sizes[k.partition]++
		if s.ring != nil {
			k.perToken[k.token]++
		}
		if k.values != nil {
			s.hashValues(k)
			for _, v := range k.values {
				v.add(bytes)
			}
		}
	}
	return nil
}

// set serializes a value.
func (c *column) set(text string) error {
	c.text = text
	if c.typ == nil {
		c.value = append(c.value[:0], text...)
		return nil
	}
	if text == "" && c.typ.Kind != value.Ascii && c.typ.Kind != value.Blob {
		return &BadValue{c.name, fmt.Sprintf("is empty, which is no %s", c.typ)}
	}
	v, err := c.typ.FromString(text)
	if err != nil {
		return &BadValue{c.name, fmt.Sprintf("%.60q is no %s (%v)", text, c.typ, err)}
	}
	c.value = v
	return nil
}

// values are the serialized values of a computed part's columns, canonical.
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

// place finds the partition of the current row under a key, and its token's range.
func (s *Simulation) place(k *key) error {
	s.buf = s.buf[:0]
	if !s.o.Partitioner.Tokens() {
		for i, p := range k.parts {
			if i > 0 {
				s.buf = append(s.buf, '#')
			}
			if p.column >= 0 {
				s.buf = append(s.buf, s.columns[p.column].text...)
			} else {
				s.buf = strconv.AppendInt(s.buf, int64(p.computed.value), 10)
			}
		}
		k.partition = s.o.Partitioner.mod(s.buf, s.o.Partitions)
		return nil
	}
	s.vs = s.vs[:0]
	length := 0
	for _, p := range k.parts {
		var v []byte
		if p.column >= 0 {
			v = s.columns[p.column].value
			if len(v) > partitioner.MaxComponent {
				return &BadValue{s.columns[p.column].name, fmt.Sprintf("has %d bytes; a partition key has at most %d", len(v), partitioner.MaxComponent)}
			}
		} else {
			// Appending may move the buffer; what was cut from it before stays valid.
			at := len(s.buf)
			s.buf = appendInt(s.buf, p.computed.value)
			v = s.buf[at:]
		}
		length += len(v)
		s.vs = append(s.vs, v)
	}
	if length == 0 && len(k.parts) == 1 {
		return &BadValue{"", fmt.Sprintf("the key %s is empty, which Cassandra refuses", k.Text)}
	}
	at := len(s.buf)
	s.buf = partitioner.AppendComposite(s.buf, s.vs...)
	if n := len(s.buf) - at; n > partitioner.MaxComponent {
		return &BadValue{"", fmt.Sprintf("the key %s has %d bytes; a partition key has at most %d", k.Text, n, partitioner.MaxComponent)}
	}
	position := s.o.Partitioner.position(s.buf[at:])
	k.partition = rangeOf(position, s.o.Partitions)
	if s.ring != nil {
		k.token = s.ring.find(position)
	}
	return nil
}

// joined is the published form of what write_sharding hashes.
func joined(by [][]byte) []byte { return partitioner.AppendComposite(nil, by...) }
