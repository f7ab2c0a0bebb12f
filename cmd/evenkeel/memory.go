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

// memoryFlags are serve's flags about memory.
type memoryFlags struct {
	Memory byteSize `placeholder:"SIZE" help:"Memory that long requests and answers of both doors may hold together, such as 2GB; where there is no room they wait, and are then refused (a quarter of the machine's memory, or of what its cgroup or GOMEMLIMIT allows)."`
}

const (
	// leastMemory is the least budget: the longest body, as it is decoded.
	leastMemory = 64 << 20

	// usualMemory is the budget where the machine does not tell its memory.
	usualMemory = 512 << 20
)

// budget makes the budget of both doors.
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

// collectAt is how much memory the process may take before the garbage collector no
// longer waits for it to double. It is no bound: the collector leaves half of the
// processors to the requests, and what is in use stays.
func collectAt(budget int64) int64 { return budget + max(budget/4, beside) }

// beside is about what the process holds beside the budget: the embedded engine's
// memtables and cache, connections, statements.
const beside = 192 << 20

// memoryShare is a quarter of the memory that the process may have. What it takes beside the
// budget, the engine's own and what the garbage collector has not given back, is about
// as much again.
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

// machineMemory is what Linux says of the machine (proc(5)).
func machineMemory(root fs.FS) (int64, bool) {
	info, _ := fs.ReadFile(root, "proc/meminfo") // other systems have none
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 53)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// cgroupMemory is the least limit of the process' control group and those above it, in
// version 2 (Linux' cgroup-v2.rst), or in version 1 that of the group itself.
func cgroupMemory(root fs.FS) (least int64, ok bool) {
	least = math.MaxInt64
	limit := func(file string) {
		text, _ := fs.ReadFile(root, file) // a group without a limit has none
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
			limit("sys/fs/cgroup/memory/memory.limit_in_bytes") // as a container sees its own
		}
	}
	return least, ok
}

// memoryCollectors are the metrics of the budget.
func memoryCollectors(b *budget.Budget) []prometheus.Collector {
	gauge := func(name, help string, of func(budget.Stats) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "evenkeel_memory_" + name, Help: help}, func() float64 { return of(b.Stats()) })
	}
	return []prometheus.Collector{
		gauge("budget_bytes", "Bytes that long requests and answers may hold together (--memory).", func(s budget.Stats) float64 { return float64(s.Size) }),
		gauge("held_bytes", "Bytes that they hold.", func(s budget.Stats) float64 { return float64(s.Held) }),
		gauge("waiting", "Requests, or parts of requests, that wait for room.", func(s budget.Stats) float64 { return float64(s.Waiting) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "evenkeel_memory_refused_total", Help: "Requests that waited for room in vain."}, func() float64 { return float64(b.Stats().Refused) }),
	}
}
