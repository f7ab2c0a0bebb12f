// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestLifecycle does to an instance with users what tests do. It is one test, because each start
// takes seconds.
func TestLifecycle(t *testing.T) {
	i := Start(t, Options{Auth: true})
	ctx := t.Context()
	if err := probe(ctx, i.Addr(), true); err != nil {
		t.Fatalf("superuser cannot log in: %v", err)
	}
	if err := probe(ctx, i.Addr(), false); err == nil {
		t.Fatal("an instance with Auth lets in a client without credentials")
	}

	addr := i.Addr()
	if err := i.Kill(); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Fatal("a killed instance still listens")
	}
	if err := i.Restart(ctx); err != nil {
		t.Fatalf("restart after kill: %v", err)
	}
	if i.Addr() != addr {
		t.Fatalf("address changed from %s to %s by a restart", addr, i.Addr())
	}
	if err := probe(ctx, addr, true); err != nil {
		t.Fatalf("after restart: %v", err)
	}
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(i.LogTail(40), "Cassandra shutdown complete") {
		t.Errorf("a stopped instance has not drained; its log ends:\n%s", i.LogTail(10))
	}
	dir := i.layout.Dir
	i.Close()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there after Close: %v", dir, err)
	}
}

// TestShared checks that two tests of a process get the same instance, and that it needs no
// credentials.
func TestShared(t *testing.T) {
	a, b := Shared(t), Shared(t)
	if a != b {
		t.Fatalf("two instances: %s and %s", a, b)
	}
	if err := probe(t.Context(), a, false); err != nil {
		t.Fatal(err)
	}
	if k1, k2 := Keyspace(t, "A"), Keyspace(t, "A"); k1 == k2 || k1[0] != 'a' || len(k1) > 48 {
		t.Fatalf("keyspaces %q and %q", k1, k2)
	}
}
