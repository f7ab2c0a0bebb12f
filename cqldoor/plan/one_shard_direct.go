// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/evenkeel/evenkeel/cql/eval"

// Direct is the fastest way to one shard. The client's own values decide the shard. The door
// inserts the shard between them and forwards them unchanged.
type Direct struct {
	At int // index of the shard among the values

	table   *Table
	key, by []int // indexes of the client's values
}

// Direct returns the statement's direct way. It returns nil if the door must evaluate something
// first. clientValues is the number of values that the client sends.
func (p *Select) Direct(clientValues int) *Direct {
	return newDirect(p.Table, p.route, p.Whole, clientValues)
}

// Direct returns the statement's direct way, as for a SELECT.
func (p *Write) Direct(clientValues int) *Direct {
	return newDirect(p.Table, p.route, p.Whole, clientValues)
}

func newDirect(t *Table, r *route, s *Statement, clientValues int) *Direct {
	if r == nil || s == nil || r.home != apart {
		return nil
	}
	d := &Direct{At: s.Insertion(clientValues), table: t}
	if d.At < 0 {
		return nil
	}
	for _, of := range []struct {
		terms []term
		to    *[]int
	}{{r.key, &d.key}, {r.by, &d.by}} {
		for _, x := range of.terms {
			m, ok := x.expr.(*eval.Marker)
			if !ok || x.part >= 0 || m.Index >= clientValues || m.T.Collection() {
				return nil // the store may need the collection in another form than the client's
			}
			*of.to = append(*of.to, m.Index)
		}
	}
	return d
}

// Shard returns the shard that the client's values decide. values are all of them. scratch is a
// buffer.
func (d *Direct) Shard(values, scratch [][]byte) (int, error) {
	n, _, err := d.Place(values, scratch)
	return n, err
}

// Place returns the shard that the client's values decide, and the logical partition key. The
// key's values use scratch if they fit.
func (d *Direct) Place(values, scratch [][]byte) (shard int, key [][]byte, err error) {
	named := scratch[:0]
	for _, i := range d.key {
		named = append(named, values[i])
	}
	if err := checkKey(named); err != nil {
		return 0, nil, err
	}
	n := len(named)
	for _, i := range d.by {
		named = append(named, values[i])
	}
	return d.table.ShardOf(named[:n:n], named[n:]), named[:n:n], nil
}
