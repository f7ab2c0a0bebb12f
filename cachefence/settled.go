// SPDX-License-Identifier: Apache-2.0

package cachefence

import "time"

// Late is how long a store may still carry out a write after the door could not learn its
// outcome.
const Late = 30 * time.Second

// Settled returns the argument of End: the time, in Unix nanoseconds, from which reads of the store
// include a write that ends now. settle is how long the store's reads may be behind its writes.
// certain says whether the outcome of the write is known. Settled returns 0 if reads include the
// write at once.
func Settled(now func() time.Time, settle time.Duration, certain bool) int64 {
	if !certain {
		settle = max(settle, Late)
	}
	if settle == 0 {
		return 0
	}
	return now().Add(settle).UnixNano()
}
