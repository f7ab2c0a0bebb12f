// SPDX-License-Identifier: Apache-2.0

package items

import "github.com/evenkeel/evenkeel/engine/items/stream"

// definer carries out requests about tables themselves.
type definer struct {
	*base
	options *Options
	streams *stream.Store
	filler  *filler
}
