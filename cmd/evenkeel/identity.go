// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
)

// identity generates the values of now() and uuid() that the door must know because they decide
// the shard.
type identity struct {
	node uint64       // clock sequence and node of the timeuuids, drawn once
	last atomic.Int64 // time of the last timeuuid, in ticks
}

func newIdentity() *identity {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] = b[0]&0x3f | 0x80
	b[2] |= 0x01 // marks the node id as random
	return &identity{node: binary.BigEndian.Uint64(b[:])}
}

// gregorian is the number of 100 ns ticks between 1582-10-15 and 1970-01-01.
const gregorian = 0x01B21DD213814000

// timeuuid returns a version 1 UUID of the current time, later than every one before.
func (i *identity) timeuuid() [16]byte {
	ticks := time.Now().UnixNano()/100 + gregorian
	for {
		last := i.last.Load()
		ticks = max(ticks, last+1)
		if i.last.CompareAndSwap(last, ticks) {
			return [16]byte(eval.AppendTimeuuid(nil, ticks, i.node))
		}
	}
}

// uuid returns a random (version 4) UUID.
func (i *identity) uuid() (u [16]byte) {
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}
