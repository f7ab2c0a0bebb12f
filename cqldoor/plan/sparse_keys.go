// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// maxSurveyed is the largest number of physical partitions that a request of a survey names. ScyllaDB
// allows 100 by default.
const maxSurveyed = 100

// Survey returns reads that show which of some shards of several logical partitions have any rows or
// static columns. It also returns for how many of the keys they are: the keys from the first one on
// that differ in one component. The answers' rows are for Met.
func (t *physical) Survey(keys [][][]byte, shards []int) (reads []Fetch, n int, err error) {
	n, at := similar(keys)
	keys = keys[:n]
	s := &syntax.Select{Distinct: true, From: t.Physical()}
	for i, c := range t.PartitionKey {
		r := syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: marker(Key, i)}
		if i == at {
			r.Op, r.Value = syntax.OpIn, marker(Set, 0)
		}
		s.Where = append(s.Where, r)
	}
	s.Where = append(s.Where, syntax.Relation{Columns: []string{t.Layout.Column}, Op: syntax.OpIn, Value: marker(ShardList, 0)})
	for _, name := range t.keyColumns() {
		s.Selectors = append(s.Selectors, column(name))
	}
	st, err := newStatement(s)
	if err != nil {
		return nil, 0, err
	}
	many := min(n, 10)
	each := min(len(shards), maxSurveyed/many)
	many = maxSurveyed / each
	for len(keys) > 0 {
		some := keys[:min(many, len(keys))]
		keys = keys[len(some):]
		list := binary.BigEndian.AppendUint32(nil, uint32(len(some)))
		for _, key := range some {
			list = binary.BigEndian.AppendUint32(list, uint32(len(key[at])))
			list = append(list, key[at]...)
		}
		for rest := shards; len(rest) > 0; {
			of := rest[:min(each, len(rest))]
			rest = rest[len(of):]
			f := fetchKey(st, nil, some[0], of)
			for i, slot := range st.Slots {
				if slot.Kind == Set {
					f.Values[i] = eval.Value{Bytes: list}
				}
			}
			reads = append(reads, f)
		}
	}
	return reads, n, nil
}

// similar returns how many keys, from the first on, differ from each other in one component at most,
// and which one.
func similar(keys [][][]byte) (n, at int) {
	at = len(keys[0]) - 1
	for n = 1; n < len(keys); n++ {
		differs := 0
		for i, v := range keys[n] {
			if bytes.Equal(v, keys[0][i]) {
				continue
			}
			if n == 1 {
				at = i
			}
			if differs++; i != at {
				return n, at
			}
		}
		if differs > 1 {
			return n, at
		}
	}
	return n, at
}
