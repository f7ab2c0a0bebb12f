// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rising are sort keys that mostly rise: each is one of the last few, or a new one, and sometimes any.
type rising struct {
	kind string // S, N or B
	next int
}

func (x *rising) key(t *rapid.T, label string) string {
	if rapid.Bool().Draw(t, label+" rises") {
		x.next++
	}
	n := x.next - rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, 20}).Draw(t, label+" before")
	return x.write(n)
}

func (x *rising) write(n int) string {
	switch x.kind {
	case "N":
		return fmt.Sprintf(`{"N":"%d.5"}`, n)
	case "B":
		return fmt.Sprintf(`{"B":"AA%c%c"}`, 'A'+max(0, n)/16%26, "AEIMQUYcgkosw048"[max(0, n)%16]) // rises up to 416
	}
	return fmt.Sprintf(`{"S":"%04d"}`, max(0, n))
}

func (x *rising) bound(t *rapid.T, label string) string {
	if x.kind == "S" && rapid.Bool().Draw(t, label+" is a prefix") {
		return fmt.Sprintf(`{"S":"%03d"}`, max(0, x.next/10-rapid.IntRange(0, 2).Draw(t, label)))
	}
	return x.write(x.next - rapid.IntRange(-2, 30).Draw(t, label))
}

// rolled makes a history one on a table of strategy rollover, and returns the table's tag.
func rolled(h *history) string {
	h.sort = rapid.SampledFrom([]string{"S", "N", "B"}).Draw(h.t, "sort")
	h.times = &rising{kind: h.sort}
	h.hashes, h.longer = 2, 120 // so that shards are filled
	return "strategy=rollover rows=10"
}

// TestLawOfRollover is TestLaw for tables whose partition keys get one shard after the other.
func TestLawOfRollover(t *testing.T) {
	for _, fanout := range []int{1, 8} {
		t.Run(fmt.Sprintf("fanout=%d", fanout), func(t *testing.T) {
			lawfulAs(t, engineDoor(t, 1), engineDoor(t, fanout), 1, false, rolled)
		})
	}
}

// TestLawOfRolloverInFront is TestLawOfRollover with doors in front of another evenkeel, and of
// dynalite.
func TestLawOfRolloverInFront(t *testing.T) {
	t.Run("evenkeel,fleet=3", func(t *testing.T) {
		bare, histories, shards := bareDoor(t), 0, 0
		lawfulAs(t, engineDoor(t, 1), fleetOf(t, bare, 3, 4), 1, false, func(h *history) string {
			histories++
			h.before = func(operation string) {
				if operation != "DeleteTable" {
					return
				}
				a, err := bare.Do("Scan", `{"TableName":"evenkeel.buckets","FilterExpression":"step = :s","ExpressionAttributeValues":{":s":{"N":"3"}}}`)
				if err != nil {
					t.Fatal(err)
				}
				shards += strings.Count(a.String(), `"step"`)
			}
			return rolled(h)
		})
		if histories >= usualHistories && shards < 50 {
			t.Errorf("%d histories begin %d shards", histories, shards)
		}
	})
	t.Run("dynalite,fleet=2", func(t *testing.T) {
		lawfulAs(t, judge(t), fleetOf(t, judge(t), 2, 8), 1, true, rolled)
	})
}
