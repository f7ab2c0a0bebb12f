// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// distractor is a column that does not belong to the process and that no query reads. It tempts: its
// values are unique by luck, or they begin with a time that is not the time of their rows.
type distractor struct {
	name  string
	bytes float64
	write func(at time.Time) string
}

// distract draws distractors.
func (s *Set) distract(r *rand.Rand) {
	if chance(r, 30) {
		s.distractors = append(s.distractors, pick(r,
			distractor{"remote_addr", 4, func(time.Time) string {
				return fmt.Sprintf("%d.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256))
			}},
			distractor{"url_path", 14, func(time.Time) string { return fmt.Sprintf("/%03x/%09x", r.IntN(4096), r.Uint64()>>28) }},
			distractor{"subject", 21, func(time.Time) string { return fmt.Sprintf("about %09x and %x", r.Uint64()>>28, r.IntN(16)) }},
		))
	}
	if chance(r, 20) { // rows come in batches, each with an id of the time at which it was begun
		last, left, ids := "", 0, pick(r, timedIDs[:3]...)
		s.distractors = append(s.distractors, distractor{"upload_ref", ids.bytes, func(at time.Time) string {
			if left == 0 {
				last, left = ids.timed(r, at, 0), 20+r.IntN(200)
			}
			left--
			return last
		}})
	}
}

// distracted adds the distractors' values to the rows, which are in the order of time.
func (s *Set) distracted() {
	for _, d := range s.distractors {
		s.Names = append(s.Names, d.name)
		for i := range s.Rows {
			s.Rows[i] = append(s.Rows[i], d.write(at(s.arrivals[i].at)))
		}
	}
}

// distractingBytes returns the bytes of a row's distractors, and of their names.
func (s *Set) distractingBytes() (values, names float64) {
	for _, d := range s.distractors {
		values += 2 + d.bytes
		names += float64(len(d.name))
	}
	return values, names
}
