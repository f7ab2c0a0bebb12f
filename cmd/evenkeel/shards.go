// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/report"
)

// shardsCmd holds the arguments of `evenkeel shards`.
type shardsCmd struct {
	WritesPerSecond *perSecond `required:"" placeholder:"RATE" help:"Writes to the one partition key in its busiest second: 5000, 5k/s, 300 per min."`
	ItemBytes       *int       `required:"" placeholder:"N" help:"Size of an item as the store bills it: names, values, metadata, and the key that sharding adds."`
	ReadsPerSecond  perSecond  `placeholder:"RATE" help:"Reads of single items of that key in its busiest second."`
	StrongReads     bool       `help:"Reads are strongly consistent (Keyspaces: LOCAL_QUORUM); they cost twice as much."`
	KeyBytes        int        `placeholder:"N" help:"Length of the partition key's value; the size of the hidden key depends on it."`
	Target          string     `enum:"dynamodb,keyspaces" default:"dynamodb" help:"The store whose limits apply: ${enum} (${default})."`
	JSON            bool       `name:"json" help:"Print the plan as JSON: minimum, recommended, options, reads, hidden_key, prewarm, storage, warnings."`

	plan *capacity.Plan
}

// flagOf maps a field of capacity.Request to its flag.
var flagOf = map[string]string{
	"WritesPerSecond": "--writes-per-second", "ReadsPerSecond": "--reads-per-second", "ItemBytes": "--item-bytes", "KeyBytes": "--key-bytes", "Store": "--target",
}

// Validate makes the plan, so that an impossible request is reported as wrong usage.
func (s *shardsCmd) Validate() error {
	if s.WritesPerSecond == nil || s.ItemBytes == nil {
		return nil // kong reports which flag is missing
	}
	p, err := capacity.For(capacity.Request{
		Store: capacity.Store(s.Target), WritesPerSecond: float64(*s.WritesPerSecond), ReadsPerSecond: float64(s.ReadsPerSecond),
		StrongReads: s.StrongReads, ItemBytes: *s.ItemBytes, KeyBytes: s.KeyBytes,
	})
	var bad *capacity.Invalid
	if errors.As(err, &bad) {
		err := fmt.Errorf("%s: %s", flagOf[bad.Field], bad.Reason)
		if bad.Hint != "" {
			return withHint(err, "%s", bad.Hint)
		}
		return err
	}
	s.plan = p
	return err
}

// Run prints the plan.
func (s *shardsCmd) Run(std *stdio) error {
	if s.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetIndent("", "  ")
		return enc.Encode(s.plan)
	}
	printShards(std, s.plan)
	return nil
}

// printShards prints a plan as text.
func printShards(std *stdio, p *capacity.Plan) {
	number := capacity.Number
	item := p.Store.Item()
	out := func(format string, args ...any) { fmt.Fprintf(std.out, format, args...) }

	out("One partition key on %s: %s writes/s", p.Store.Name(), number(p.WritesPerSecond))
	if p.ReadsPerSecond > 0 {
		out(", %s %s reads/s", number(p.ReadsPerSecond), p.Store.Read(p.Reads.Strong))
	}
	out(", %ss of %s bytes\n\n", item, number(float64(p.ItemBytes)))

	best := p.Options[0]
	for _, o := range p.Options {
		if o.Shards == p.Recommended {
			best = o
		}
	}
	report.Entry(std.out, "minimum", fmt.Sprintf("%d: %s", p.Minimum, p.Arithmetic))
	report.Entry(std.out, "recommended", fmt.Sprintf("%d: throttled %s", p.Recommended, secondsText(best.ThrottledSecond)))

	out("\n    shards   load of each            throttled                    writes refused\n")
	for _, o := range p.Options {
		mark := " "
		if o.Shards == p.Recommended {
			mark = "→"
		}
		out("  %s %6s   %4.0f%%  %s   %-27s  %s\n", mark, number(float64(o.Shards)), 100*o.Load, gauge(o.Load, 12), secondsText(o.ThrottledSecond), shareText(o.WritesRefused))
	}
	out("\n")

	r := p.Reads
	n := number(float64(p.Recommended))
	if p.Recommended > 1 {
		report.Entry(std.out, "reads", fmt.Sprintf("One %s, %s: %s RCU in one shard. All of the key: %s shards are read, at least %s RCU a query where it was %s; and as each query reads each shard, %s a second are the most, however many shards there are.",
			item, p.Store.Read(r.Strong), number(r.Point), n, number(r.WholeKey), number(r.Unsharded), number(r.QueriesPerSec)))
	} else {
		report.Entry(std.out, "reads", fmt.Sprintf("One %s, %s: %s RCU. %s a second fit in the partition.", item, p.Store.Read(r.Strong), number(r.Point), number(r.PointPerSecond)))
	}
	report.Entry(std.out, "hidden key", hiddenText(p))
	if p.Recommended > 1 {
		w := p.Prewarm
		ask := fmt.Sprintf("Ask for %s write units", number(float64(w.WriteUnits)))
		if w.ReadUnits > 0 {
			ask += fmt.Sprintf(" and %s read units", number(float64(w.ReadUnits)))
		}
		report.Entry(std.out, "pre-warm", ask+" at least. Shards are placed by hash, and two on one partition share what it bears until the store splits it for heat, which takes minutes. Until then, on average:")
		for i, s := range w.Starts {
			what := ""
			if i == 0 {
				what = " (a fresh on-demand table)"
			}
			out("%15s%s of the %ss served with %s %s units%s\n", "", shareText(s.Served), w.Bound, number(float64(s.Units)), w.Bound, what)
		}
	}
	if p.Store == capacity.DynamoDB {
		report.Entry(std.out, "10 GB", fmt.Sprintf("If each write is a new item, a shard holds them after %s. DynamoDB then splits it by sort key; with a local secondary index writes fail instead.", hoursText(p.Storage.ShardFullHours)))
	} else {
		report.Entry(std.out, "10 GB", fmt.Sprintf("If each write is a new row, a shard holds them after %s. Keyspaces parts a large partition by itself.", hoursText(p.Storage.ShardFullHours)))
		layout := shard.Layout{N: p.Recommended, Column: shard.DefaultColumn}
		report.Entry(std.out, "declare", "WITH write_sharding = "+layout.String())
	}
	for _, w := range p.Warnings {
		report.Entry(std.out, "warning", w)
	}
}

func hiddenText(p *capacity.Plan) string {
	h := p.Hidden
	add := fmt.Sprintf("%s adds %d bytes", h.Name, h.Bytes)
	if h.KeyRepeated && !h.KeyKnown {
		add += " and the key's length"
	}
	add += fmt.Sprintf(" to each %s", p.Store.Item())
	if h.Lifts {
		return add + "; see the warning."
	}
	if h.KeyRepeated && !h.KeyKnown {
		return add + fmt.Sprintf(", which lifts none into the next WCU with keys up to %d bytes.", h.KeyBytesFit)
	}
	return add + ", which lifts none into the next WCU."
}

// secondsText says how often a second with probability p occurs.
func secondsText(p float64) string {
	switch {
	case p > 0.995:
		return "nearly every second"
	case p >= 0.001:
		return fmt.Sprintf("%.2g%% of the seconds", 100*p)
	case p < 1/(100*365.25*86400):
		return "less than once a century"
	}
	return "once in " + capacity.Duration(1/p)
}

func hoursText(h float64) string {
	if h > 100*365.25*24 {
		return "more than a century"
	}
	return capacity.Duration(h * 3600)
}

func shareText(x float64) string {
	switch {
	case x == 0 || x < 1e-9:
		return "0%"
	case x < 0.00005:
		return "under 0.01%"
	case x < 0.01:
		return fmt.Sprintf("%.2f%%", 100*x)
	case x > 0.99 && x < 1:
		return fmt.Sprintf("%.2f%%", math.Floor(10000*x)/100)
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}

// gauge draws a share as a bar of so many cells.
func gauge(x float64, cells int) string {
	full := min(cells, int(math.Round(x*float64(cells))))
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}
