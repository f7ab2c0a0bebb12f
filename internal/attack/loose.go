// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// loose writes the parts of a message. Their lengths are right. Their flags, numbers, names and
// values are any, also those that no driver sends with such a message.
type loose struct {
	*rand.Rand
	b  []byte
	v5 bool
}

// drawLoose draws a frame with such a message.
func drawLoose(r *rand.Rand, version primitive.ProtocolVersion) []byte {
	l := &loose{Rand: r, v5: version >= primitive.ProtocolVersion5}
	flags := byte(pick(r, 0, 0, 0, 2, 4, 8, 0x10, 0xfe))
	if flags&4 != 0 { // a custom payload
		n := r.IntN(4)
		l.short(n)
		for range n {
			l.name()
			l.value()
		}
	}
	op := pick(r, primitive.OpCodeQuery, primitive.OpCodeExecute, primitive.OpCodeBatch, primitive.OpCodeBatch, primitive.OpCodePrepare)
	switch op {
	case primitive.OpCodeQuery:
		l.text()
		l.parameters()
	case primitive.OpCodeExecute:
		if l.id(); l.v5 {
			l.id()
		}
		l.parameters()
	case primitive.OpCodeBatch:
		l.batch()
	default:
		l.text()
		if keyspace := r.IntN(2) == 0; l.v5 && keyspace {
			l.int(1)
			l.name()
		} else if l.v5 {
			l.int(pick[int64](r, 0, 2, -2))
		}
	}
	out := []byte{byte(version), flags, byte(r.IntN(128)), byte(r.Uint32()), byte(op)}
	return append(binary.BigEndian.AppendUint32(out, uint32(len(l.b))), l.b...)
}

func (l *loose) short(n int) { l.b = binary.BigEndian.AppendUint16(l.b, uint16(n)) }
func (l *loose) int(n int64) { l.b = binary.BigEndian.AppendUint32(l.b, uint32(n)) }
func (l *loose) level()      { l.short(pick(l.Rand, 1, 1, 1, 0, 2, 4, 6, 7, 8, 9, 10, 11, 0xffff)) }

func (l *loose) name() {
	s := pick(l.Rand, "", "w", "p", "evenkeel", "system", "\xff", "é")
	l.short(len(s))
	l.b = append(l.b, s...)
}

func (l *loose) bytes() {
	n := l.IntN(upTo(l.Rand, 2000))
	l.int(int64(n))
	l.b = append(l.b, make([]byte, n)...)
}

func (l *loose) value() {
	switch l.IntN(12) {
	case 0:
		l.int(-1) // null
	case 1:
		l.int(-2) // unset
	case 2:
		l.int(-3) // nothing
	case 3:
		l.bytes()
	default:
		l.int(4)
		l.int(int64(l.IntN(5)))
	}
}

func (l *loose) values(named bool) {
	n := l.IntN(upTo(l.Rand, 300))
	l.short(n)
	for range n {
		if named {
			l.name()
		}
		l.value()
	}
}

func (l *loose) text() {
	s := pick(l.Rand, "SELECT * FROM w.b WHERE p = 1", "INSERT INTO w.a (p, c, d) VALUES (9, 9, 9)", "SELECT n FROM w.a WHERE p = ?", "UPDATE w.d SET n = ? WHERE p = :p AND c = 9 AND d = ?", "", "\xff", "SELECT now() FROM system.local")
	l.int(int64(len(s)))
	l.b = append(l.b, s...)
}

func (l *loose) id() {
	n := pick(l.Rand, 16, 16, 16, 0, 1, 300)
	l.short(n)
	l.b = append(l.b, make([]byte, n)...)
}

// batch writes the body of a BATCH. Kinds of batches are 0 to 2.
func (l *loose) batch() {
	l.b = append(l.b, byte(pick(l.Rand, 0, 0, 1, 1, 2, 3)))
	n := pick(l.Rand, 0, 1, 2, 5, upTo(l.Rand, 1000))
	l.short(n)
	for range n {
		if l.IntN(3) == 0 {
			l.b = append(l.b, 1)
			l.id()
		} else {
			l.b = append(l.b, 0)
			l.text()
		}
		l.values(false)
	}
	l.parameters()
}

// parameters writes the parameters of a request, with any flags. native_protocol_v5.spec §4.1.4
// names the flags.
func (l *loose) parameters() {
	r := l.Rand
	flags := r.IntN(1 << pick(r, 1, 7, 9, 9, 16, 31))
	l.level()
	if l.v5 {
		l.int(int64(flags))
	} else {
		flags &= 0xff
		l.b = append(l.b, byte(flags))
	}
	has := func(bit int) bool { return flags&bit != 0 && (l.v5 || bit < 0x80) }
	if has(0x01) {
		l.values(has(0x40))
	}
	if has(0x04) { // the size of pages
		l.int(pick[int64](r, 0, 1, 100, -1, 1<<31-1, 1<<31))
	}
	if has(0x08) { // a paging state
		if r.IntN(3) > 0 {
			l.bytes()
		} else {
			l.int(pick[int64](r, 0, -1, -7))
		}
	}
	if has(0x10) { // the serial consistency
		l.level()
	}
	if has(0x20) { // the timestamp
		l.b = binary.BigEndian.AppendUint64(l.b, pick(r, 0, 1, 1<<63, 1<<63+1, 1<<63-1, ^uint64(0), r.Uint64()))
	}
	if has(0x80) { // the keyspace
		l.name()
	}
	if has(0x100) { // now, in seconds
		l.int(pick[int64](r, 0, 1, -1, 1<<31-1, 1<<31, 2_000_000_000))
	}
}
