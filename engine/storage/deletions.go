// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// deletions holds what is deleted of a partition beyond single rows: the partition itself and
// slices of it. It is stored under one key before the partition's rows. The ends of slices are
// positions: byte strings between clusterings in their ordered form. A bound just before a prefix
// is the prefix, just after it prefix+FF, and the end is FF. Slices are disjoint and sorted, so
// that a growing "DELETE … WHERE c < ?" stays one slice. Encoded:
//
//	flags      rowIsDeletions, hasPartition
//	partition  timestamp[8] time
//	spans      (length, from, length, to, timestamp[8], time)…
type deletions struct {
	partition Deletion // Timestamp is noTimestamp if there is none
	spans     []span
}

type span struct {
	from, to []byte // from ≤ position < to
	Deletion
}

const hasPartition = 1

func (d *deletions) reset() {
	clear(d.spans)
	*d = deletions{partition: Deletion{Timestamp: noTimestamp}, spans: d.spans[:0]}
}

func (d *deletions) size() int { return 1 + len(d.spans) }

func (d *deletions) empty() bool {
	return d.partition.Timestamp == noTimestamp && len(d.spans) == 0
}

func (d *deletions) append(dst []byte) []byte {
	if d.partition.Timestamp != noTimestamp {
		dst = append(dst, rowIsDeletions|rowPurgeable|hasPartition)
		dst = appendDeletion(dst, d.partition)
	} else {
		dst = append(dst, rowIsDeletions|rowPurgeable)
	}
	for i := range d.spans {
		s := &d.spans[i]
		dst = appendBytes(appendBytes(dst, s.from), s.to)
		dst = appendDeletion(dst, s.Deletion)
	}
	return dst
}

func appendDeletion(dst []byte, d Deletion) []byte {
	return binary.AppendUvarint(binary.BigEndian.AppendUint64(dst, uint64(d.Timestamp)), uint64(d.Time))
}

func (r *rowReader) fixedDeletion() (d Deletion) {
	if b := r.take(8); b != nil {
		d.Timestamp = int64(binary.BigEndian.Uint64(b))
	}
	d.Time = int64(r.uvarint())
	return d
}

// decode sets d to the encoded deletions. d keeps views of src.
func (d *deletions) decode(src []byte) error {
	d.reset()
	if len(src) == 0 || src[0]&rowIsDeletions == 0 {
		return errBadDeletions
	}
	r := rowReader{src: src[1:]}
	if src[0]&hasPartition != 0 {
		d.partition = r.fixedDeletion()
	}
	for len(r.src) > 0 {
		d.spans = append(d.spans, span{from: r.take(r.uvarint()), to: r.take(r.uvarint()), Deletion: r.fixedDeletion()})
	}
	if r.bad {
		return errBadDeletions
	}
	return nil
}

var errBadDeletions = fmt.Errorf("%w: deletions of a partition cannot be decoded", ErrCorrupt)

// at returns the deletion that covers the row at a clustering: the partition's or a slice's.
func (d *deletions) at(clustering []byte) Deletion {
	del := d.partition
	i, found := slices.BinarySearchFunc(d.spans, clustering, func(s span, c []byte) int {
		return bytes.Compare(s.from, c)
	})
	if !found {
		i--
	}
	if i >= 0 {
		if s := &d.spans[i]; bytes.Compare(clustering, s.to) < 0 && s.supersedes(del) {
			del = s.Deletion
		}
	}
	return del
}

// merge sets d to everything that a and b delete. d is neither of them.
func (d *deletions) merge(a, b *deletions) {
	d.reset()
	d.partition = a.partition
	if b.partition.supersedes(d.partition) {
		d.partition = b.partition
	}
	// The loop goes over the ends of all spans. Between two neighbouring ends at most one span of
	// a and one of b are open.
	as, bs := a.spans, b.spans
	var pos []byte // everything before it is done
	for len(as) > 0 || len(bs) > 0 {
		// This is where the next piece begins.
		var start []byte
		switch {
		case len(as) == 0:
			start = bs[0].from
		case len(bs) == 0 || bytes.Compare(as[0].from, bs[0].from) < 0:
			start = as[0].from
		default:
			start = bs[0].from
		}
		if bytes.Compare(start, pos) < 0 {
			start = pos
		}
		// These are the open deletion and where it changes.
		var open Deletion
		open.Timestamp = noTimestamp
		var end []byte
		for _, list := range [2][]span{as, bs} {
			if len(list) == 0 {
				continue
			}
			s := &list[0]
			change := s.to
			if bytes.Compare(s.from, start) <= 0 {
				if s.Deletion.supersedes(open) {
					open = s.Deletion
				}
			} else {
				change = s.from
			}
			if end == nil || bytes.Compare(change, end) < 0 {
				end = change
			}
		}
		d.addSpan(start, end, open)
		pos = end
		for len(as) > 0 && bytes.Compare(as[0].to, pos) <= 0 {
			as = as[1:]
		}
		for len(bs) > 0 && bytes.Compare(bs[0].to, pos) <= 0 {
			bs = bs[1:]
		}
	}
}

// addSpan appends a piece. It joins the piece to the last one if it continues that.
func (d *deletions) addSpan(from, to []byte, del Deletion) {
	if del.Timestamp <= d.partition.Timestamp || bytes.Compare(from, to) >= 0 {
		return
	}
	if n := len(d.spans); n > 0 {
		if last := &d.spans[n-1]; last.Deletion == del && bytes.Equal(last.to, from) {
			last.to = to
			return
		}
	}
	d.spans = append(d.spans, span{from, to, del})
}
