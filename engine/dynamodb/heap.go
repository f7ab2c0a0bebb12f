// SPDX-License-Identifier: Apache-2.0

package dynamodb

// heap keeps elements so that the first one, by some order, is on top.
type heap[E any] struct {
	all    []E
	before func(a, b *E) bool
}

// top returns the first element. The heap must not be empty.
func (h *heap[E]) top() *E { return &h.all[0] }

// push adds an element.
func (h *heap[E]) push(e E) {
	h.all = append(h.all, e)
	h.raise()
}

// raise moves the last element to its place.
func (h *heap[E]) raise() {
	for i := len(h.all) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.before(&h.all[i], &h.all[parent]) {
			return
		}
		h.all[i], h.all[parent] = h.all[parent], h.all[i]
		i = parent
	}
}

// pop removes the first element and returns it.
func (h *heap[E]) pop() E {
	n := len(h.all) - 1
	h.all[0], h.all[n] = h.all[n], h.all[0]
	out := h.all[n]
	clear(h.all[n:])
	h.all = h.all[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < n && h.before(&h.all[child+1], &h.all[child]) {
			child++
		}
		if child >= n || !h.before(&h.all[child], &h.all[i]) {
			return out
		}
		h.all[i], h.all[child] = h.all[child], h.all[i]
		i = child
	}
}
