package simulation

import (
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// Detail is what plots show of a key: its values, each of which is a partition to
// Cassandra and DynamoDB, by size.
type Detail struct {
	Values        sketch.Interval // different ones
	Sizes         []sketch.Bulk   // the smallest first
	P50, P90, P99 float64         // bytes of a value
	Most          float64         // of the largest
	Fullest       float64         // rows of the fullest
}

// SaltDetail is the same key with a number of salts.
type SaltDetail struct {
	Detail
	N   int
	Own bool // as the key says
}

// detailSample is how many values of a key are counted, detailTop how many of the
// largest are kept where there are more.
const (
	detailSample = 1 << 14
	detailTop    = 256
	detailBulks  = 400
)

// seen is what was counted of a value.
type seen struct{ rows, bytes int64 }

// values counts a key's values.
type values struct {
	n      int // salts; 0: as the key says
	hash   uint64
	sample *sketch.Sample[seen]
	top    *sketch.Top[seen]
}

func newValues(n int) *values {
	return &values{n: n, sample: sketch.NewSample[seen](detailSample), top: sketch.NewTop[seen](detailTop)}
}

// variants are the numbers of salts that a key is shown with, beside its own.
func variants(e *keys.Expr) (list []int) {
	for _, p := range e.Parts {
		if p.Function == keys.Column {
			continue
		}
		for _, n := range []int{1, p.N / 4, p.N / 2, 2 * p.N, 4 * p.N} {
			if n >= 1 && n <= shard.MaxShards && n != p.N && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
		return list
	}
	return nil
}

// add counts the current row.
func (v *values) add(bytes int64) {
	if s := v.sample.Add(v.hash); s != nil {
		s.rows++
		s.bytes += bytes
	}
	if s, _ := v.top.Add(v.hash, 1); s != nil {
		s.rows++
		s.bytes += bytes
	}
}

// hashValues finds the current row's value of a key, with each number of salts.
func (s *Simulation) hashValues(k *key) {
	for _, v := range k.values {
		s.buf = s.buf[:0]
		first := true
		for i := range k.parts {
			p := &k.parts[i]
			n := 0
			if p.computed != nil {
				n = p.computed.value
				if v.n > 0 && first {
					n, first = p.computed.of(s.o.Partitioner, s.values(p.computed), v.n), false
				}
			}
			s.buf = appendInt(s.buf, n)
			if p.column >= 0 {
				text := s.columns[p.column].value
				s.buf = append(appendInt(s.buf, len(text)), text...)
			}
		}
		v.hash = partitioner.Hash(s.buf)
	}
}

func (v *values) detail() Detail {
	of := func(s *seen) (rows, bytes float64) { return float64(s.rows), float64(s.bytes) }
	d := Detail{Values: v.sample.Distinct(), Sizes: sketch.Bulks(v.sample, v.top, of, of, detailBulks)}
	q := v.sample.Quantiles(func(s *seen) float64 { return float64(s.bytes) }, 0.5, 0.9, 0.99)
	d.P50, d.P90, d.P99 = q[0].Value, q[1].Value, q[2].Value
	for _, b := range d.Sizes {
		d.Most, d.Fullest = max(d.Most, b.Bytes), max(d.Fullest, b.Rows)
	}
	return d
}

// details are what plots show of a key.
func (k *key) details() (own *Detail, salts []SaltDetail) {
	for _, v := range k.values {
		d := SaltDetail{Detail: v.detail(), N: v.n, Own: v.n == 0}
		if d.Own {
			own = &d.Detail
			if i := slices.IndexFunc(k.parts, func(p slot) bool { return p.computed != nil }); i >= 0 {
				d.N = k.parts[i].computed.part.N
			}
		}
		salts = append(salts, d)
	}
	if len(salts) < 2 {
		return own, nil
	}
	slices.SortFunc(salts, func(a, b SaltDetail) int { return cmp.Compare(a.N, b.N) })
	return own, salts
}
