// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRoster has doors come and go, and looks at what drivers are told of it.
func TestRoster(t *testing.T) {
	const lease = 2 * time.Second
	self, b, c := [16]byte{1}, [16]byte{2}, [16]byte{3}
	row := func(id byte, host [16]byte, at string, beat int64) *Door {
		return &Door{ID: [16]byte{id}, HostID: host, CQL: at, DataCentre: "dc1", Rack: "r1", Lease: lease, Beat: beat}
	}
	old := func(d *Door, age time.Duration) *Door { d.Age = age; return d }
	left := func(d *Door) *Door { d.Lease = 0; return d }
	far := func(d *Door) *Door { d.DataCentre = "dc2"; return d }
	me := row(1, self, "a:1", 1)
	type look struct {
		after time.Duration
		rows  []*Door
		says  string // the changes
		up    string
	}
	for name, looks := range map[string][]look{
		"alone":                   {{0, []*Door{me}, "", ""}},
		"joins":                   {{0, []*Door{me}, "", ""}, {time.Second, []*Door{me, row(2, b, "b:1", 1)}, "b:1 joined", "b:1"}},
		"was killed before":       {{0, []*Door{me, old(row(2, b, "b:1", 9), 4*time.Second)}, "", ""}, {time.Second, []*Door{me, row(2, b, "b:1", 9)}, "", ""}},
		"was just killed":         {{0, []*Door{old(row(2, b, "b:1", 9), time.Second)}, "b:1 joined", "b:1"}, {time.Second, []*Door{row(2, b, "b:1", 9)}, "", "b:1"}, {time.Second, []*Door{row(2, b, "b:1", 9)}, "", "b:1"}, {time.Second, []*Door{row(2, b, "b:1", 9)}, "b:1 down", ""}},
		"left before":             {{0, []*Door{left(row(2, b, "b:1", 9))}, "", ""}},
		"leaves":                  {{0, []*Door{row(2, b, "b:1", 1)}, "b:1 joined", "b:1"}, {time.Second, []*Door{left(row(2, b, "b:1", 2))}, "b:1 down, b:1 gone", ""}},
		"comes back as another":   {{0, []*Door{row(2, b, "b:1", 9)}, "b:1 joined", "b:1"}, {time.Second, []*Door{left(row(2, b, "b:1", 10)), row(3, b, "b:1", 1)}, "", "b:1"}},
		"two doors":               {{0, []*Door{row(3, c, "c:1", 1), row(2, b, "b:1", 9)}, "b:1 joined, c:1 joined", "b:1 c:1"}},
		"own data centre first":   {{0, []*Door{row(3, c, "c:1", 1), far(row(2, b, "b:1", 9))}, "b:1 joined, c:1 joined", "c:1 b:1"}},
		"has moved":               {{0, []*Door{row(2, b, "b:1", 1)}, "b:1 joined", "b:1"}, {time.Second, []*Door{row(2, b, "b:2", 2)}, "b:1 gone, b:2 joined", "b:2"}},
		"its row has gone":        {{0, []*Door{row(2, b, "b:1", 1)}, "b:1 joined", "b:1"}, {time.Second, nil, "b:1 down, b:1 gone", ""}},
		"this door reads nothing": {{0, []*Door{row(2, b, "b:1", 1)}, "b:1 joined", "b:1"}, {time.Minute, []*Door{row(2, b, "b:1", 1)}, "", "b:1"}, {time.Second, []*Door{row(2, b, "b:1", 2)}, "", "b:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, now := new(Roster), time.Now()
			for i, l := range looks {
				now = now.Add(l.after)
				var says, up []string
				for _, c := range r.Look(now, self, lease, l.rows) {
					says = append(says, c.Door.CQL+[...]string{" joined", " up", " down", " gone"}[c.Kind])
				}
				for _, d := range r.Up("dc1") {
					up = append(up, d.CQL)
				}
				if got := strings.Join(says, ", "); got != l.says {
					t.Errorf("look %d: %q, not %q", i, got, l.says)
				}
				if got := strings.Join(up, " "); got != l.up {
					t.Errorf("look %d: up are %q, not %q", i, got, l.up)
				}
			}
		})
	}
	t.Run("paused, back, killed, forgotten", func(t *testing.T) {
		r, now, said := new(Roster), time.Now(), []string(nil)
		for second := range 90 {
			beat := int64(second)
			switch {
			case second >= 5 && second < 15:
				beat = 5
			case second > 20:
				beat = 20
			}
			for _, c := range r.Look(now.Add(time.Duration(second)*time.Second), self, lease, []*Door{row(2, b, "b:1", beat)}) {
				said = append(said, fmt.Sprint(second, [...]string{" joined", " up", " down", " gone"}[c.Kind]))
			}
		}
		if want := []string{"0 joined", "9 down", "15 up", "24 down", "84 gone"}; !slices.Equal(said, want) {
			t.Errorf("%q, not %q", said, want)
		}
	})
}
