// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"testing"
)

// TestRoomKeepsFewKeysExact checks samples that share a room: samples of few keys keep all keys,
// and samples of many keys give up room for them.
func TestRoomKeepsFewKeysExact(t *testing.T) {
	const size = 64
	room := NewRoom(1 << 20)
	many, few, some := NewSampleIn[int64](room, size), NewSampleIn[int64](room, size), NewSampleIn[int64](room, size)
	most := 0
	for i := range uint64(400_000) {
		for _, c := range []struct {
			s    *Sample[int64]
			keys uint64
		}{{many, 1 << 40}, {some, 9_000}, {few, 1_000}} {
			if n := c.s.Add(mixed(i%c.keys + c.keys)); n != nil {
				*n++
			}
		}
		most = max(most, many.bytes()+few.bytes()+some.bytes())
	}
	if !few.Exact() || !some.Exact() || len(few.keys) != 1000 || len(some.keys) != 9000 {
		t.Errorf("%d and %d keys are kept of 1,000 and 9,000", len(few.keys), len(some.keys))
	}
	if many.Exact() || len(many.keys) < 1000 {
		t.Errorf("%d keys are kept of the many", len(many.keys))
	}
	if limit := 1<<20 + 3*NewSample[int64](size).bytes(); most > limit {
		t.Errorf("%d bytes were taken, of %d", most, limit)
	}
	if d := many.Distinct(); d.Low > 400_000 || d.High < 400_000 {
		t.Errorf("400,000 keys are said to be %v", d)
	}
}

// TestRoomMerge checks that what several rooms keep fits into their joined room.
func TestRoomMerge(t *testing.T) {
	rooms, samples := make([]*Room, 4), make([]*Sample[int64], 4)
	for i := range rooms {
		rooms[i] = NewRoom(1 << 18)
		samples[i] = NewSampleIn[int64](rooms[i], 64)
		for k := range uint64(20_000) {
			if n := samples[i].Add(mixed(k*4 + uint64(i))); n != nil {
				*n++
			}
		}
	}
	for i := 1; i < 4; i++ {
		rooms[0].Join(rooms[i])
		samples[0].Merge(samples[i], func(into, from *int64) { *into += *from })
	}
	if rooms[0].left < 0 || samples[0].bytes() > 1<<20+NewSample[int64](64).bytes() {
		t.Errorf("%d bytes are taken", samples[0].bytes())
	}
	if d := samples[0].Distinct(); d.Low > 80_000 || d.High < 80_000 {
		t.Errorf("80,000 keys are said to be %v", d)
	}
}

func mixed(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
