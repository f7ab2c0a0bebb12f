// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMemoryShare(t *testing.T) {
	const gib = 1 << 30
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	meminfo := file("MemTotal:       25165824 kB\nMemFree:         1048576 kB\n") // 24 GiB
	for name, c := range map[string]struct {
		files fstest.MapFS
		limit int64
		want  int64
	}{
		"a machine":                     {fstest.MapFS{"proc/meminfo": meminfo}, math.MaxInt64, 6 * gib},
		"nothing is told":               {fstest.MapFS{}, math.MaxInt64, usualMemory},
		"GOMEMLIMIT":                    {fstest.MapFS{"proc/meminfo": meminfo}, 2 * gib, gib / 2},
		"a container, version 2":        {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("4294967296\n")}, math.MaxInt64, gib},
		"a group without a limit":       {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/memory.max": file("max\n")}, math.MaxInt64, 6 * gib},
		"the group above has the limit": {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("8589934592\n")}, math.MaxInt64, 2 * gib},
		"version 1":                     {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": file("5:cpu:/x\n4:memory:/x\n"), "sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("1073741824\n")}, math.MaxInt64, gib / 4},
		"version 1 has no limit":        {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": file("4:memory:/x\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, math.MaxInt64, 6 * gib},
		"very little":                   {fstest.MapFS{"proc/meminfo": file("MemTotal: 65536 kB\n")}, math.MaxInt64, leastMemory},
	} {
		if got := memoryShare(c.files, c.limit); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}

// For any budget, the limit of Go's heap, the engine's cache and its two memtables together are
// less than twice the budget and 64 MiB, so that there is room for the program itself.
func TestEngineMemory(t *testing.T) {
	for budget := int64(leastMemory); budget <= 8<<30; budget += 16 << 20 {
		cache, memTable := engineMemory(budget)
		if cache < 16<<20 || memTable < 8<<20 || cache > 64<<20 || memTable > 32<<20 {
			t.Errorf("a budget of %d: cache %d, memtables %d", budget, cache, memTable)
		}
		outside := cache + 2*int64(memTable)
		if most := collectAt(budget) - engineInHeap + outside; most > 2*budget+32<<20 {
			t.Errorf("a budget of %d: %d bytes", budget, most)
		}
	}
}

func TestTooLittleMemory(t *testing.T) {
	m := memoryFlags{Memory: 10 << 20}
	if _, err := m.budget(); err == nil || !strings.Contains(err.Error(), "--memory: 10485760 bytes are too few") {
		t.Error(err)
	}
}
