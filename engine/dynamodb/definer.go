// SPDX-License-Identifier: Apache-2.0

package dynamodb

import "github.com/evenkeel/evenkeel/engine/dynamodb/stream"

// definer carries out requests about tables themselves.
type definer struct {
	*base
	options *Options
	streams *stream.Store
	filler  *filler
}
