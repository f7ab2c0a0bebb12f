// SPDX-License-Identifier: Apache-2.0

package items

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Runner carries out requests on items. It is safe for concurrent use. Its maker sets the
// exported fields.
type Runner struct {
	Backend  backend.Store
	Tables   *tables.Registry
	Log      *slog.Logger
	Fanout   int           // requests of one client's request that are under way at a time, at most
	RetryFor time.Duration // how long a throttled part of a request on several shards is tried again
	Draw     func() uint64 // draws which shards a page asks first

	stamps atomic.Int64 // of items that move: no two of a door are the same
}
