// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// These variables tell test packages about the instance that `make test` has started.
const (
	AddrVariable = "EVENKEEL_TEST_CASSANDRA"
	LogVariable  = "EVENKEEL_TEST_CASSANDRA_LOG"
)

// SharedOptions are the options of the instance that tests share.
var SharedOptions = Options{HeapMB: 1024}

var shared = sync.OnceValues(func() (*Instance, error) {
	return Launch(context.Background(), SharedOptions)
})

// Shared returns the address of the Cassandra that tests share. It needs no credentials. If a test
// fails, Shared prints what Cassandra logged meanwhile.
func Shared(t testing.TB) string {
	t.Helper()
	addr, log := os.Getenv(AddrVariable), os.Getenv(LogVariable)
	if addr == "" {
		i, err := shared() // its watchdog ends it with this process
		if err != nil {
			t.Fatalf("this test needs a real Cassandra: %v", err)
		}
		addr, log = i.Addr(), i.Log()
	} else if err := probe(t.Context(), addr, false); err != nil {
		t.Fatalf("this test needs a real Cassandra, and %s=%s does not answer: %v", AddrVariable, addr, err)
	}
	var from int64
	if fi, err := os.Stat(log); err == nil {
		from = fi.Size()
	}
	t.Cleanup(func() {
		if t.Failed() && log != "" {
			if lines := tail(log, from, 20); lines != "" {
				t.Logf("Cassandra logged meanwhile (%s):\n%s", log, lines)
			}
		}
	})
	return addr
}

// Start starts the test's own instance, which ends with the test. If the test fails, Start prints
// the end of the instance's log.
func Start(t testing.TB, o Options) *Instance {
	t.Helper()
	i, err := Launch(t.Context(), o)
	if err != nil {
		t.Fatalf("this test needs a real Cassandra of its own: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of Cassandra's log:\n%s", i.LogTail(30))
		}
		i.Close()
	})
	return i
}

var keyspaces atomic.Int64

// Keyspace returns a keyspace name that no other test uses, in this run or another on the same
// instance: prefix, the test's hash, the time.
func Keyspace(t testing.TB, prefix string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name())) // never fails
	name := fmt.Sprintf("%s_%08x_%010x_%03d", strings.ToLower(prefix), h.Sum32(), time.Now().UnixMicro()&0xffffffffff, keyspaces.Add(1))
	return name[:min(len(name), 48)]
}
