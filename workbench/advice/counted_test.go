// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestVerdictIsCounted checks that the figures of the verdict's key are exact even if its values do
// not fit into memory beside those of the other keys.
func TestVerdictIsCounted(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	var data strings.Builder
	data.WriteString("player,match,ended\n")
	for i := range 500_000 {
		u := draw.Float64()
		fmt.Fprintf(&data, "p%d,%d,%d\n", int(120_000*u*u), i, 1_767_225_600_000+400*i)
	}
	r := advisedOf(t, `INSERT INTO g.results (player, match, ended) VALUES (?, ?, ?) -- 3/s
SELECT * FROM g.results WHERE player = ? ORDER BY ended DESC LIMIT 20 -- 300/s`, data.String())
	c := &r.Candidates[0]
	if c.PartitionKey[0] != "player" || c.Partitions < 100_000 {
		t.Errorf("%s: %v partitions: too few for the test", c.Design, c.Partitions)
	}
	for name, i := range c.Intervals {
		t.Errorf("%s: %s is %+v", c.Design, name, i)
	}
}

// TestLostRowsAreCounted draws rows that a device and a time tell apart, and no single column does. The
// advice must count the lost rows, and not estimate them.
func TestLostRowsAreCounted(t *testing.T) {
	var data strings.Builder
	data.WriteString("device,at\n")
	for i := range 1_200_000 {
		fmt.Fprintf(&data, "d%d,%d\n", i%600, 1_767_225_600_000+int64(i/600)*60_000+int64(i%10)*7)
	}
	r := advisedOf(t, `INSERT INTO g.readings (device, at) VALUES (?, ?) -- 10/s
SELECT * FROM g.readings WHERE device = ? ORDER BY at DESC LIMIT 20 -- 30/s`, data.String())
	c := &r.Candidates[0]
	if c.PartitionKey[0] != "device" {
		t.Fatalf("%s is advised", c.Design)
	}
	for name, i := range c.Intervals {
		t.Errorf("%s: %s is %+v", c.Design, name, i)
	}
}
