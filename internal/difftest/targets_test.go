package difftest

import (
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// targets starts what the tests compare and returns it, the judge first. This is
// the list: what stands here is tested, nothing is left out at run time.
func targets(t testing.TB) []Target {
	real := cassandra.Shared(t)
	return []Target{
		{Name: "cassandra", Addr: real},
		{Name: "door", Addr: doorTo(t, real), Backend: real},
		{Name: "engine", Addr: doorToEngine(t)},
	}
}
