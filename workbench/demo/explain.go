// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/engine/throughput"
	plans "github.com/evenkeel/evenkeel/workbench/capacity"
)

// explain says why a table took as many writes as it did.
func (w *writer) explain() {
	t := w.t
	limit := throughput.Limits{}.WithDefaults().Partition.Write
	number := plans.Number
	t.Words = t.Words[:0:0]
	say := func(format string, args ...any) { t.Words = append(t.Words, fmt.Sprintf(format, args...)) }
	if t.Shards == 1 {
		say("One partition key is in one partition, and a partition takes %s writes of 1 KB a second. The table has %d partitions; the others stand idle.", number(limit), t.Partitions)
		if len(t.Reasons) > 0 {
			say("What is above is refused: %s.", reasons(t))
		}
		return
	}
	of := "a fresh on-demand table has"
	if t.WarmWrites > 0 {
		of = fmt.Sprintf("a table has that was pre-warmed for %s write units", number(float64(t.WarmWrites)))
	}
	var together []string
	alone := 0
	for _, p := range t.Map {
		if len(p.Keys) > 1 {
			together = append(together, fmt.Sprintf("%s share partition %d", joined(p.Keys), p.Partition))
		} else {
			alone++
		}
	}
	where := fmt.Sprintf("The %d shard keys are on %d of the %d partitions that %s", t.Shards, t.Occupied, t.Partitions, of)
	switch {
	case len(together) > 0:
		say("%s: keys are placed by their hash, and %s. %d partitions of %s take %s a second.", where, strings.Join(together, "; "), t.Occupied, number(limit), number(limit*float64(t.Occupied)))
	default:
		say("%s, each on one of its own.", where)
	}
	if t.WarmWrites == 0 {
		say("That is chance: %d keys occupy %.2f of %d partitions on average (%s), and so a cold table takes about %s writes a second for a hot key, whatever the arithmetic says. DynamoDB splits partitions that stay hot, after minutes; pre-warming does it before the load.",
			t.Shards, t.Chance, t.Partitions, chances(t.Shards, t.Partitions), number(math.Round(t.Chance*limit)))
	}
	fullest := 0.0
	for _, p := range t.Map {
		fullest = math.Max(fullest, p.Offered)
	}
	mean := float64(w.d.o.Rate) / float64(t.Shards)
	if len(together) == 0 {
		switch {
		case t.Throttled > 0 && mean >= 0.98*limit:
			say("There is no headroom: a shard gets %s a second on average, the fullest %s, and how many come in a second is by chance. %.2f%% were throttled.", number(math.Round(mean)), number(math.Round(fullest)), 100*float64(t.Throttled)/math.Max(1, float64(t.Offered)))
		case t.Throttled > 0:
			say("A shard gets %s a second on average, the fullest %s: %.2f%% were throttled.", number(math.Round(mean)), number(math.Round(fullest)), 100*float64(t.Throttled)/math.Max(1, float64(t.Offered)))
		default:
			say("A shard gets %s a second on average, the fullest %s: there is headroom, and nothing is throttled.", number(math.Round(mean)), number(math.Round(fullest)))
		}
	}
}

// chances says how often n keys occupy each number of some partitions.
func chances(n, partitions int) string {
	// occupied[k] is the chance that the keys so far occupy k partitions.
	occupied := make([]float64, partitions+1)
	occupied[0] = 1
	for range n {
		for k := partitions; k > 0; k-- {
			occupied[k] = occupied[k]*float64(k)/float64(partitions) + occupied[k-1]*float64(partitions-k+1)/float64(partitions)
		}
		occupied[0] = 0
	}
	var all []string
	for k, p := range occupied {
		if p >= 0.005 {
			all = append(all, fmt.Sprintf("%d in %.0f of 100 cases", k, 100*p))
		}
	}
	return strings.Join(all, ", ")
}

// reasons lists throttling reasons as DynamoDB's errors name them.
func reasons(t *Table) string {
	var all []string
	for r := range t.Reasons {
		all = append(all, r)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// joined joins names: a, b and c.
func joined(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
