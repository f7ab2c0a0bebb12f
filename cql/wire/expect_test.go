// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// TestFramesThatAreNotWanted checks that a decoder asks about each frame before it reads the frame.
// It must skip unwanted frames in little memory and read the frames after them.
func TestFramesThatAreNotWanted(t *testing.T) {
	const most = 100_000
	sizes := []int{10, 99_999, 300_000, 1, 100_001, 10_000_000, 5}
	for _, v := range []Version{V4, V5} {
		for _, z := range []Compression{NoCompression, LZ4} {
			t.Run(fmt.Sprint(v, z), func(t *testing.T) {
				var e Encoder
				e.Established(v, z)
				for i, n := range sizes {
					e.Frame(Header{Version: v, Op: OpQuery, Stream: int16(i)}, bytes.Repeat([]byte{byte(i)}, n))
				}
				d := NewRequestDecoder(bytes.NewReader(e.Take(nil)), 16<<20)
				d.Established(v, z)
				var asked []int
				d.SetExpect(func(n int) bool {
					if d.buf != nil && len(d.buf) > 1<<20 || len(d.joined) > 1<<20 {
						t.Errorf("before a body of %d bytes is wanted there are buffers of %d and %d", n, len(d.buf), len(d.joined))
					}
					asked = append(asked, n)
					return n <= most
				})
				for i, n := range sizes {
					h, body, err := d.Next()
					if int(h.Stream) != i || (err == ErrSkipped) != (n > most) || err != nil && err != ErrSkipped {
						t.Fatalf("frame %d: %+v, %v", i, h, err)
					}
					if err == nil && !bytes.Equal(body, bytes.Repeat([]byte{byte(i)}, n)) {
						t.Errorf("frame %d of %d bytes came with %d", i, n, len(body))
					}
				}
				if !slices.Equal(asked, sizes) {
					t.Errorf("asked about %v", asked)
				}
				if len(d.buf) > 1<<20 || cap(d.joined) > 1<<20 || cap(d.plain) > 1<<20 {
					t.Errorf("buffers of %d, %d and %d bytes for frames that were not wanted", len(d.buf), cap(d.joined), cap(d.plain))
				}
			})
		}
	}
}
