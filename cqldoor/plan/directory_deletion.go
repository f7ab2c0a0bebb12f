// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"errors"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// The directory records a deletion that spans many buckets. Buckets that are added later need the
// deletion too, because a row with an older timestamp may arrive there.

// EncodeSlice encodes a slice for the directory.
//
//	1 if the start is inclusive, plus 2 if the end is | the start's values, the end's:
//	uvarint count, each uvarint length and bytes
func EncodeSlice(s analysis.Slice) []byte {
	var b []byte
	flags := byte(0)
	if s.Start.Inclusive {
		flags |= 1
	}
	if s.End.Inclusive {
		flags |= 2
	}
	b = append(b, flags)
	for _, end := range [][][]byte{s.Start.Prefix, s.End.Prefix} {
		b = binary.AppendUvarint(b, uint64(len(end)))
		for _, v := range end {
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		}
	}
	return b
}

var errSlice = errors.New("plan: a deletion in the directory of buckets is not readable")

// DecodeSlice decodes the output of EncodeSlice.
func DecodeSlice(b []byte) (s analysis.Slice, err error) {
	if len(b) == 0 || b[0] > 3 {
		return s, errSlice
	}
	s.Start.Inclusive, s.End.Inclusive = b[0]&1 != 0, b[0]&2 != 0
	b = b[1:]
	next := func() (uint64, bool) {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)) {
			return 0, false
		}
		b = b[size:]
		return n, true
	}
	for _, end := range []*[][]byte{&s.Start.Prefix, &s.End.Prefix} {
		n, ok := next()
		if !ok {
			return s, errSlice
		}
		for range n {
			size, ok := next()
			if !ok || size > uint64(len(b)) {
				return s, errSlice
			}
			*end, b = append(*end, b[:size:size]), b[size:]
		}
	}
	if len(b) > 0 {
		return s, errSlice
	}
	return s, nil
}

// DeleteIn returns the deletion of a slice of a logical partition in one bucket, with the timestamp
// stamp, or nothing if no row of the slice can be in the bucket. A deletion of counters has no timestamp,
// because no store takes one: it has that of the request.
func (t *Table) DeleteIn(key [][]byte, s analysis.Slice, bucket, stamp int64) (out []Mutation, err error) {
	for _, end := range [][][]byte{s.Start.Prefix, s.End.Prefix} {
		if len(end) > len(t.Clustering) {
			return nil, errSlice
		}
		for i, v := range end {
			if t.Clustering[i].Type.Validate(v) != nil {
				return nil, errSlice
			}
		}
	}
	if first, last := t.timing.between(s); bucket < first || bucket > last {
		return nil, nil
	}
	p := &Write{Table: t, slices: func(sh shape) (*Statement, error) {
		d := syntax.Delete{From: t.Physical(), Where: append(t.partition(), t.relations(sh)...)}
		if !t.Counter {
			d.Using.Timestamp = marker(Set, 0)
		}
		return newStatement(&d)
	}}
	at := []eval.Value{{Bytes: binary.BigEndian.AppendUint64(nil, uint64(stamp))}}
	p.deleteIn(&eval.Env{}, Target{Key: key, Set: at}, s, t.timing.places([]int64{bucket}), func(m Mutation, fault error) bool {
		out, err = append(out, m), fault
		return fault == nil
	})
	return out, err
}
