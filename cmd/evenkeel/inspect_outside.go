// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/nodetool"
)

// outside adds the output of other tools to the report, and names what other tools could add.
func (s *survey) outside(r *inspection.Report, outputs []*nodetool.Output) {
	hot, dead, sizes := s.partitions != nil, false, false
	for _, o := range outputs {
		for _, rank := range o.Rankings {
			out := inspection.Outside{What: rank.Title, From: "nodetool toppartitions"}
			for _, row := range rank.Rows {
				out.Partitions = append(out.Partitions, inspection.Counted{Key: row.Key, Count: row.Count, Unit: strings.ToLower(rank.Unit), Error: row.Error})
			}
			if len(rank.Rows) == 0 {
				out.Text = "nothing was recorded while it sampled"
			}
			hot = hot || strings.HasPrefix(rank.Title, "Frequency")
			r.Outside = append(r.Outside, out)
		}
		for _, h := range o.Histograms {
			sizes = true
			var parts []string
			for _, p := range h.Percentiles {
				if math.IsNaN(p.Bytes) {
					continue
				}
				parts = append(parts, fmt.Sprintf("%s %.0f bytes, %.0f cells", p.Name, p.Bytes, p.Cells))
			}
			if parts == nil {
				parts = []string{"the table had no files: nodetool flush writes them"}
			}
			r.Outside = append(r.Outside, inspection.Outside{What: "Partitions of one node, tombstones and all", From: "nodetool tablehistograms", Text: strings.Join(parts, "; ")})
		}
		if len(o.Partitions) == 0 {
			continue
		}
		all := nodetool.Sum(o.Partitions)
		sizes = true
		large := inspection.Outside{What: "Largest partitions in SSTables", From: "sstablepartitions"}
		for _, p := range all[:min(len(all), s.cmd.Top)] {
			large.Partitions = append(large.Partitions, inspection.Counted{Key: p.Key, Count: float64(p.Bytes), Unit: "bytes"})
		}
		r.Outside = append(r.Outside, large)
		all = slices.DeleteFunc(all, func(p nodetool.Partition) bool { return !p.Detailed || p.Tombstones == 0 })
		slices.SortStableFunc(all, func(a, b nodetool.Partition) int { return cmp.Compare(b.Tombstones, a.Tombstones) })
		if dead = dead || slices.ContainsFunc(o.Partitions, func(p nodetool.Partition) bool { return p.Detailed }); dead {
			heavy := inspection.Outside{What: "Partitions with most tombstones", From: "sstablepartitions"}
			for _, p := range all[:min(len(all), s.cmd.Top)] {
				heavy.Partitions = append(heavy.Partitions, inspection.Counted{Key: p.Key, Count: float64(p.Tombstones), Unit: "tombstones"})
			}
			if len(all) == 0 {
				heavy.Text = "none"
			}
			r.Outside = append(r.Outside, heavy)
		}
	}
	const hottest = "hottest partitions"
	ks, table := s.t.Address().Keyspace, s.t.Address().Table
	command := func(known bool, what, command string) {
		switch {
		case known:
		case s.cluster.Name == "evenkeel" && s.cluster.Door:
			how := "the embedded engine does not count that"
			if what == hottest {
				how = "evenkeel serve --capacity keyspaces, on the same data, counts them"
			}
			r.Hidden = append(r.Hidden, inspection.HiddenAnswer{What: what, Command: how})
		case s.cluster.Keyspaces:
			r.Hidden = append(r.Hidden, inspection.HiddenAnswer{What: what, Command: "Amazon Keyspaces does not tell; its CloudWatch metrics say when partitions throttle (PerPartition… exceeded)"})
		default:
			r.Hidden = append(r.Hidden, inspection.HiddenAnswer{What: what, Command: command})
		}
	}
	again := fmt.Sprintf("evenkeel inspect %s --nodetool ", s.cmd.Table)
	command(hot, hottest, fmt.Sprintf("on a node, while it is busy: nodetool toppartitions %s %s 10000 > top.txt; then %stop.txt", ks, table, again))
	if s.cluster.Keyspaces && s.partitions == nil {
		r.Hidden = append(r.Hidden, inspection.HiddenAnswer{What: "partitions and their bounds", Command: "AWS does not tell; evenkeel serve --capacity keyspaces shows them for its own engine"})
	}
	command(dead, "partitions with most tombstones", fmt.Sprintf("on a node: sstablepartitions -m -o 100 $(ls …/data/%s/%s-*/*-Data.db) > sizes.csv; then %ssizes.csv", ks, table, again))
	command(sizes, "sizes with tombstones and overwritten values", fmt.Sprintf("on a node: nodetool tablehistograms %s %s > histograms.txt; then %shistograms.txt", ks, table, again))
}
