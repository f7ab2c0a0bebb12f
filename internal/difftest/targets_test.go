// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// targets starts the targets and returns them, the judge first. The tests cover everything in this
// list; nothing is left out at run time.
func targets(t testing.TB) []Target {
	real := cassandra.Shared(t)
	door := doorTo(t, real)
	engine, physical := engines(t)
	targets := []Target{
		{Name: "cassandra", Addr: real},
		{Name: "door", Addr: door, Backend: real},
		{Name: "engine", Addr: engine, Backend: physical, Refuses: []string{"index", "short-tuple", "view"}},
	}
	for _, n := range []int{1, 3, 16} {
		sharding := fmt.Sprintf("{'shards': '%d'}", n)
		targets = append(targets,
			Target{Name: fmt.Sprintf("door, %d shards", n), Addr: door, Backend: real, Sharding: sharding, Shards: n},
			Target{Name: fmt.Sprintf("engine, %d shards", n), Addr: engine, Backend: physical, Sharding: sharding, Shards: n},
		)
	}
	return targets
}

// randomTargets returns the targets with strategies random and rollover.
func randomTargets(t testing.TB) []Target {
	real := cassandra.Shared(t)
	engine, physical := engines(t)
	const sharding = "{'strategy': 'random', 'shards': '3'}"
	return []Target{
		{Name: "cassandra", Addr: real},
		{Name: "door, random", Addr: doorTo(t, real), Backend: real, Sharding: sharding, Shards: 3},
		{Name: "engine, random", Addr: engine, Backend: physical, Sharding: sharding, Shards: 3},
		{Name: "door, rollover", Addr: doorTo(t, real), Backend: real, Sharding: "{'strategy': 'rollover', 'rows': '10'}"},
		{Name: "engine, rollover", Addr: engine, Backend: physical, Sharding: "{'strategy': 'rollover', 'rows': '10'}"},
	}
}

// timeTargets returns the targets with strategy time.
func timeTargets(t testing.TB) []Target {
	real := cassandra.Shared(t)
	engine, physical := engines(t)
	const one, three = "{'strategy': 'time', 'by': 'c0', 'bucket': '1d'}", "{'strategy': 'time', 'by': 'c0', 'bucket': '7d', 'shards': '3'}"
	return []Target{
		{Name: "cassandra", Addr: real},
		{Name: "door, days", Addr: doorTo(t, real), Backend: real, Sharding: one},
		{Name: "engine, weeks", Addr: engine, Backend: physical, Sharding: three},
	}
}
