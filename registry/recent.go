// SPDX-License-Identifier: Apache-2.0

package registry

import "sync"

// Recent is a set of names of bounded size. It forgets names that were not asked for lately. It is
// safe for concurrent use.
type Recent struct {
	mu         sync.RWMutex
	young, old map[string]struct{}
	bytes      int // of the young names
}

// recentNames is the largest number of names in each half of a set.
const recentNames = 50_000

// recentBytes is about the largest size of all names in each half of a set.
const recentBytes = 16 << 20

// Has reports whether a name is in the set.
func (s *Recent) Has(name []byte) bool {
	s.mu.RLock()
	_, young := s.young[string(name)]
	_, old := s.old[string(name)]
	s.mu.RUnlock()
	if old && !young {
		s.Add(name)
	}
	return young || old
}

// Add adds a name.
func (s *Recent) Add(name []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.young[string(name)]; there {
		return
	}
	if len(s.young) >= recentNames || s.bytes >= recentBytes {
		s.old, s.young, s.bytes = s.young, nil, 0
	}
	if s.young == nil {
		s.young = map[string]struct{}{}
	}
	s.young[string(name)] = struct{}{}
	s.bytes += len(name)
}
