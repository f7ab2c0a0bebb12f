// SPDX-License-Identifier: Apache-2.0

// Package crash copies a store's files as a crash would leave them, at a random moment while
// writers write.
//
// It imports nothing of this module.
package crash

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Remains is what a crash leaves. The slices have one count for each writer.
type Remains struct {
	Files        *vfs.MemFS
	Acknowledged []int // writes that were acknowledged before the crash
	Begun        []int // writes that had begun when it was over, or earlier
}

// While has writers call write with their number and n = 1, 2, …, each of them one write after the
// other. At a random moment of the first 40 ms it copies the files as a crash would leave them: all
// that was synced, and a random part of the rest. Then it stops the writers. An error of write
// fails the test.
func While(t *testing.T, files *vfs.MemFS, seed uint64, writers int, write func(w, n int) error) Remains {
	rng := rand.New(rand.NewPCG(seed, 1))
	acknowledged, begun := make([]int, writers), make([]int, writers) // guarded by mu
	var mu sync.Mutex
	var running sync.WaitGroup
	stop := make(chan struct{})
	for w := range writers {
		running.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				begun[w] = n
				mu.Unlock()
				if err := write(w, n); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged[w] = n
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Duration(1+rng.IntN(40)) * time.Millisecond)
	var r Remains
	mu.Lock()
	r.Acknowledged = slices.Clone(acknowledged)
	mu.Unlock()
	r.Files = files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[rng.IntN(3)], RNG: rng})
	mu.Lock()
	r.Begun = slices.Clone(begun)
	mu.Unlock()
	close(stop)
	running.Wait()
	return r
}
