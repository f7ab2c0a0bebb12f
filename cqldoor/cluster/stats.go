// SPDX-License-Identifier: Apache-2.0

package cluster

// HostStats describes the door's use of one host.
type HostStats struct {
	Address     string
	Connections int  // of all links; ended ones do not count
	InFlight    int  // requests without an answer
	Silent      bool // the host has answered none of its requests for a second
}

// HostStats returns the figures of each host in use. A host without a connection is down, cannot be
// reached, or has not been needed for a while.
func (cl *Cluster) HostStats() []HostStats {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	all := make([]HostStats, len(cl.hosts))
	at := make(map[string]*HostStats, len(cl.hosts))
	for i, h := range cl.hosts {
		all[i].Address, all[i].Silent = h.addr, h.silent()
		at[h.addr] = &all[i]
	}
	for _, p := range cl.pools {
		for _, conns := range p.live.Load().hosts {
			for _, c := range conns {
				if s := at[c.host.addr]; s != nil && !c.ended.Load() {
					s.Connections++
					s.InFlight += int(c.inFlight.Load())
				}
			}
		}
	}
	return all
}
