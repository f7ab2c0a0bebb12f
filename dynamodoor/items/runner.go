// SPDX-License-Identifier: Apache-2.0

package items

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/registry"
)

// Runner carries out requests on items. It is safe for concurrent use. Its maker sets the exported
// fields.
type Runner struct {
	Backend  backend.Store
	Together backend.Gatherer // reads several shards in one request; nil: the backend cannot
	Catalog  *catalog.Catalog // has the directory of buckets of time
	Tables   *tables.Registry
	Log      *slog.Logger
	Fanout   int           // largest number of requests under way at a time for one client request
	RetryFor time.Duration // time for which a throttled part of a request on several shards is retried
	Now      func() time.Time
	Draw     func() uint64 // draws the order in which a page reads the shards

	added  registry.Recent // buckets of time that this door has added to the directory
	recent recent          // partition keys with buckets of time
	rolls  rolls           // partition keys of strategy rollover

	stamps atomic.Int64 // makes the stamps of moved items unique within a door
}
