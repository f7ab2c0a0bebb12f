// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/evenkeel/evenkeel/cql/eval"

// Direct is the shortest way to one shard: all that names the shard are values of
// the client's, which are sent as they came with the shard put between them.
type Direct struct {
	At int // the index that the shard takes among the values

	table   *Table
	key, by []int // indexes of the client's values
}

// Direct is the statement's direct way; nil where there is none, because something
// must be evaluated. clientValues is how many values the client sends.
func (p *Select) Direct(clientValues int) *Direct {
	return p.Table.direct(p.route, p.Whole, clientValues)
}

// Direct is the statement's direct way, as a SELECT's is.
func (p *Write) Direct(clientValues int) *Direct {
	return p.Table.direct(p.route, p.Whole, clientValues)
}

func (t *Table) direct(r *route, s *Statement, clientValues int) *Direct {
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
				return nil // a collection may not be stored as it was sent
			}
			*of.to = append(*of.to, m.Index)
		}
	}
	return d
}

// Shard is the shard that the client's values, all of them, name. scratch is room
// for those that do.
func (d *Direct) Shard(values, scratch [][]byte) (int, error) {
	n, _, err := d.Place(values, scratch)
	return n, err
}

// Place is the shard that the client's values name, and the logical partition key, whose
// values are in scratch where they fit.
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
