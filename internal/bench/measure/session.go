// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Connect opens a driver's session as a fast application would. The session uses only the server at
// addr. Otherwise the driver would also use the other doors of the store, which it learns of there.
func Connect(addr string) (*gocql.Session, error) {
	c := gocql.NewCluster(addr)
	c.ProtoVersion = 4
	c.NumConns = 2
	c.Timeout, c.ConnectTimeout = 30*time.Second, 30*time.Second
	c.WriteCoalesceWaitTime = 0
	c.Consistency = gocql.LocalOne
	c.DisableInitialHostLookup = true
	c.Events.DisableNodeStatusEvents, c.Events.DisableTopologyEvents = true, true
	return c.CreateSession()
}
