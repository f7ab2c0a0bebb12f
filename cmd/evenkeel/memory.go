// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/budget"
)

// memoryFlags are the flags of serve for memory.
type memoryFlags struct {
	Memory byteSize `placeholder:"SIZE" help:"Memory that long requests and answers of both doors together may use, such as 2GB; if none is left, requests wait, and are then refused (a quarter of the machine's memory, or of what its cgroup or GOMEMLIMIT allows)."`
}

const (
	// leastMemory is the least budget: one body of the greatest length, decoded.
	leastMemory = 64 << 20

	// usualMemory is the budget if the machine's memory is not known.
	usualMemory = 512 << 20
)

// budget makes the budget that both doors share.
func (m *memoryFlags) budget() (*budget.Budget, error) {
	switch {
	case m.Memory == 0:
		m.Memory = byteSize(memoryShare(os.DirFS("/"), debug.SetMemoryLimit(-1)))
	case m.Memory < leastMemory:
		return nil, withHint(fmt.Errorf("--memory: %d bytes are too few", m.Memory), "give it 64MiB at least; the longest request alone takes as much")
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(collectAt(int64(m.Memory)))
	}
	return budget.New(int64(m.Memory), 0), nil
}

// collectAt returns the soft limit for the garbage collector. It is no hard limit: the collector
// leaves half of the processors to the requests and frees nothing that is in use.
func collectAt(budget int64) int64 { return budget + max(budget/4, beside) }

// beside is a rough figure for the memory in Go's heap that is not in the budget: connections and
// statements, and the embedded engine's memory in that heap.
const beside = 64<<20 + engineInHeap

// engineMemory returns the sizes of the embedded engine's cache and of each of its two memtables. With
// a small budget, their usual 128 MiB would be most of the process's memory.
func engineMemory(budget int64) (cache int64, memTable int) {
	return min(budget/4, 64<<20), int(min(budget/8, 32<<20))
}

// memoryShare returns a quarter of the memory that the process may have. Memory outside the
// budget (the engine's own, and what the garbage collector has not returned) takes about as much
// again.
func memoryShare(root fs.FS, limit int64) int64 {
	most := int64(math.MaxInt64)
	least := func(n int64, ok bool) {
		if ok && n > 0 {
			most = min(most, n)
		}
	}
	least(limit, limit != math.MaxInt64)
	least(machineMemory(root))
	least(cgroupMemory(root))
	if most == math.MaxInt64 {
		return usualMemory
	}
	return max(most/4, leastMemory)
}

// machineMemory reads the machine's memory from Linux (proc(5)).
func machineMemory(root fs.FS) (int64, bool) {
	info, _ := fs.ReadFile(root, "proc/meminfo") // only Linux has this file
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 53)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// cgroupMemory returns the least memory limit of the process's control group and its parents
// (version 2, Linux' cgroup-v2.rst), or of the group itself (version 1).
func cgroupMemory(root fs.FS) (least int64, ok bool) {
	least = math.MaxInt64
	limit := func(file string) {
		text, _ := fs.ReadFile(root, file) // a group without a limit has no such file
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			least, ok = min(least, n), true
		}
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch at := path.Clean("/" + fields[2]); {
		case fields[0] == "0":
			for ; ; at = path.Dir(at) {
				limit("sys/fs/cgroup" + strings.TrimSuffix(at, "/") + "/memory.max")
				if at == "/" {
					break
				}
			}
		case fields[1] == "memory":
			limit("sys/fs/cgroup/memory" + strings.TrimSuffix(at, "/") + "/memory.limit_in_bytes")
			limit("sys/fs/cgroup/memory/memory.limit_in_bytes") // a container sees its own group here
		}
	}
	return least, ok
}

// memoryCollectors returns the metrics of the budget.
func memoryCollectors(b *budget.Budget) []prometheus.Collector {
	gauge := func(name, help string, of func(budget.Stats) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "evenkeel_memory_" + name, Help: help}, func() float64 { return of(b.Stats()) })
	}
	return []prometheus.Collector{
		gauge("budget_bytes", "Memory, in bytes, that long requests and answers together may use (--memory).", func(s budget.Stats) float64 { return float64(s.Size) }),
		gauge("held_bytes", "Memory, in bytes, that they use.", func(s budget.Stats) float64 { return float64(s.Held) }),
		gauge("waiting", "Requests, or parts of requests, that wait for memory.", func(s budget.Stats) float64 { return float64(s.Waiting) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "evenkeel_memory_refused_total", Help: "Requests that waited for memory in vain."}, func() float64 { return float64(b.Stats().Refused) }),
	}
}
