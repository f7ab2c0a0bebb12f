// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
)

// identity makes the ids that the door has to make itself: now() and uuid() where
// their value decides the shard.
type identity struct {
	node uint64       // clock sequence and node of timeuuids, drawn once
	last atomic.Int64 // ticks of the last timeuuid
}

func newIdentity() *identity {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] = b[0]&0x3f | 0x80
	b[2] |= 0x01 // a node id that is random says so
	return &identity{node: binary.BigEndian.Uint64(b[:])}
}

// gregorian is 1970 in 100 ns since 1582.
const gregorian = 0x01B21DD213814000

// timeuuid is a version 1 UUID of now, later than all before.
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

// uuid is a version 4 UUID.
func (i *identity) uuid() (u [16]byte) {
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}
