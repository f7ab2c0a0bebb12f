// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/value"
)

// times computes writetime, maxwritetime and ttl.
func (ev *evaluation) times(t *Times) ([]byte, error) {
	if ev.row == nil {
		return nil, nil
	}
	cells, multi, err := ev.cellTimes(t.Of)
	if err != nil || len(cells) == 0 {
		return nil, err
	}
	if t.Kind == MaxWriteTime {
		best := NoTimestamp
		for _, c := range cells {
			best = max(best, c.Timestamp)
		}
		return timestamp(best), nil
	}
	of := func(c CellTime) []byte {
		if t.Kind == TTL {
			return ttl(c)
		}
		return timestamp(c.Timestamp)
	}
	if !multi {
		return of(cells[0]), nil
	}
	list := value.AppendCount(nil, len(cells))
	for _, c := range cells {
		list = value.AppendPart(list, of(c))
	}
	return list, nil
}

func timestamp(ts int64) []byte {
	if ts == NoTimestamp {
		return nil
	}
	return binary.BigEndian.AppendUint64(nil, uint64(ts))
}

func ttl(c CellTime) []byte {
	if c.Timestamp == NoTimestamp || c.TTL == NoTTL {
		return nil
	}
	return binary.BigEndian.AppendUint32(nil, uint32(c.TTL))
}

// cellTimes returns the times of a column or of a selected part of it. multi is set if each element
// has its own time; the result is then a list.
func (ev *evaluation) cellTimes(e Expr) (cells []CellTime, multi bool, err error) {
	switch e := e.(type) {
	case *Column:
		return ev.row.Times(e.Cell), e.Column.Type.Multicell(), nil
	case *Field:
		cells, multi, err = ev.cellTimes(e.Of)
		if err != nil || !multi {
			return cells, false, err
		}
		if e.Index >= len(cells) {
			return nil, false, nil
		}
		return cells[e.Index : e.Index+1], false, nil
	case *Element:
		cells, multi, err = ev.cellTimes(e.Of)
		if err != nil {
			return nil, false, err
		}
		key, err := ev.key(e.Key, "element", name(e.Of))
		if err != nil {
			return nil, false, err
		}
		v, err := ev.eval(e.Of)
		if err != nil || v == nil {
			return nil, false, err
		}
		i, _, err := ev.find(e.Of, v, key)
		switch {
		case err != nil:
			return nil, false, err
		case i < 0:
			return nil, false, nil
		case !multi:
			return cells, false, nil
		case i >= len(cells):
			return nil, false, nil
		}
		return cells[i : i+1], false, nil
	case *Range:
		cells, multi, err = ev.cellTimes(e.Of)
		if err != nil {
			return nil, false, err
		}
		from, to, err := ev.bounds(e)
		if err != nil {
			return nil, false, err
		}
		v, err := ev.eval(e.Of)
		if err != nil || v == nil {
			return nil, false, err
		}
		lo, hi, _ := cut(e.Of.Type(), v, from, to)
		switch {
		case lo == hi:
			return nil, multi, nil
		case !multi:
			return cells, false, nil
		case hi > len(cells):
			return nil, multi, nil
		}
		return cells[lo:hi], true, nil
	}
	return nil, false, nil
}
