// SPDX-License-Identifier: Apache-2.0

package cluster

// HostStats is what the door has of one host.
type HostStats struct {
	Address     string
	Connections int  // of all links, that have not ended
	InFlight    int  // requests without an answer
	Silent      bool // it has answered nothing for a second, of what it was asked
}

// HostStats counts, for each host in use. A host without a connection is down, or cannot
// be reached, or nobody has wanted anything of the cluster for a while.
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
