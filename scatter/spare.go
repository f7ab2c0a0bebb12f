// SPDX-License-Identifier: Apache-2.0

package scatter

import "math"

// spare returns how many rows more than a page may be fetched: two for each shard, or the
// deviation of a shard's share of the page for each, whichever is more.
func spare(page, n int) float64 {
	return max(2*float64(n), math.Sqrt(float64(page)*float64(n)))
}
