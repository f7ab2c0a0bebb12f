// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
)

// TestAControlConnectionToAMuteHost checks that a host that accepts connections, but answers no
// query, does not hold up the search for another host.
func TestAControlConnectionToAMuteHost(t *testing.T) {
	s := newServer(t)
	cl := connectTo(t, Options{}, s)
	mute := newServer(t)
	mute.mute = true
	cl.opts.ConnectTimeout = time.Second
	if c, err := cl.controlTo(t.Context(), mute.addr); err == nil {
		c.close("the test ends")
		t.Error("a host that answers no query is good for a control connection")
	}
}

// TestAHostThatIsBackIsAsked checks that a host that was silent is asked again as soon as it has
// accepted new connections.
func TestAHostThatIsBackIsAsked(t *testing.T) {
	s := newServer(t)
	cl := connectTo(t, Options{ConnsPerHost: 1}, s)
	c := open(t, cl, store.LinkOptions{}).(*link).p.pick()
	c.host.quiet.Store(2)
	s.hangUp()
	<-c.done
	eventually(t, "there is a new connection", func() bool { return cl.HostStats()[0].Connections == 1 })
	if c.host.silent() {
		t.Error("the host is still taken for silent")
	}
}
