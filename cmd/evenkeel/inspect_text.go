// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// inspectText prints a report as text.
func inspectText(w io.Writer, r *inspection.Report) error {
	b := bufio.NewWriter(w)
	std := &stdio{out: b}
	out := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }

	out("%s, %s\n", r.Table, r.Store)
	coverage := coverageText(r.Coverage)
	if r.DynamoDB != nil {
		coverage = segmentWords.Replace(coverage)
	}
	out("%s\n\n", coverage)

	rows, partitions, size := "rows", "partitions", "partition size"
	if r.DynamoDB != nil {
		rows, partitions, size = "items", "collections", "item collection"
	}
	out("  %-13s%s\n", partitions, intervalText(r.Partitions, wholeText))
	out("  %-13s%s\n", rows, intervalText(r.Rows, wholeText))
	out("  %-13s%s\n", "bytes", intervalText(r.Bytes, bytesText))
	if r.Partitions.Value > 0 {
		out("\n  %-15s  %-29s bytes\n", size, rows)
		for _, q := range []struct {
			name        string
			rows, bytes inspection.Interval
		}{
			{"p50", r.Sizes.Rows.P50, r.Sizes.Bytes.P50}, {"p90", r.Sizes.Rows.P90, r.Sizes.Bytes.P90},
			{"p99", r.Sizes.Rows.P99, r.Sizes.Bytes.P99}, {"p99.9", r.Sizes.Rows.P999, r.Sizes.Bytes.P999},
		} {
			out("  %14s   %-28s  %s\n", q.name, intervalText(q.rows, countText), intervalText(q.bytes, bytesText))
		}
		atLeast := ""
		if r.Coverage.Read < 1 {
			atLeast = "at least "
		}
		out("  %14s   %-28s  %s\n", "max", atLeast+countText(r.Sizes.Rows.Max), atLeast+bytesText(r.Sizes.Bytes.Max))
		out("  %14s   %-28s  %s\n\n", "mean", countText(r.Sizes.Rows.Mean), bytesText(r.Sizes.Bytes.Mean))
		entry(std, "bytes are", r.Sizes.How+".")
		if r.Coverage.Unseen != "" {
			entry(std, "a sample", r.Coverage.Unseen+".")
		}
		if r.Whole != "" {
			entry(std, "note", r.Whole+".")
		}
		if r.DynamoDB == nil {
			entry(std, "above 10 MB", fmt.Sprintf("%s partitions; above 100 MB %s.", intervalText(r.Above.Good, wholeText), intervalText(r.Above.Most, wholeText)))
		}
	}
	largeText(b, "largest partitions", r.Largest, r.Coverage)
	logicalText(b, std, r)
	if r.DynamoDB != nil {
		dynamoText(b, std, r)
	} else {
		nodesText(b, std, r)
	}
	for _, m := range r.Maps {
		out("\n")
		partitionsText(b, m, r.DynamoDB == nil)
	}
	growthText(b, std, r)

	out("\n%s: %s\n", r.Key.Shape, r.Key.CQL)
	entry(std, "means", r.Key.Means)
	for _, f := range r.Key.Findings {
		label := "note"
		if f.Warning {
			label = "warning"
		}
		entry(std, label, f.Name+": "+strings.TrimSpace(f.Evidence+" "+f.Advice))
	}

	if len(r.Views) > 0 {
		out("\nwhat the nodes show in system_views\n")
		for _, v := range r.Views {
			out("  %-16s %-22s %-10s %s\n", v.Node, v.Table, v.Column, countText(v.Value))
		}
	}
	for _, o := range r.Outside {
		out("\n%s (%s)\n", o.What, o.From)
		for _, p := range o.Partitions {
			plus := ""
			if p.Error > 0 {
				plus = fmt.Sprintf(" (up to %s too high)", countText(p.Error))
			}
			out("  %12s %-12s %s%s\n", countText(p.Count), p.Unit, p.Key, plus)
		}
		if o.Text != "" {
			entry(std, "", o.Text)
		}
	}
	if len(r.Hidden) > 0 {
		out("\nunknown from here\n")
		for _, h := range r.Hidden {
			out("  %s\n      %s\n", h.What, h.Command)
		}
	}
	return b.Flush()
}

// segmentWords replaces the words for token ranges by those for the segments of a table without a
// ring.
var segmentWords = strings.NewReplacer("of the ring", "of the hashes", "ranges of tokens", "segments", " rows", " items")

func coverageText(c inspection.Coverage) string {
	of := "the whole table"
	if c.Mode == "sample" {
		of = fmt.Sprintf("a sample, %s of the ring; intervals hold with 99%% confidence", percentText(c.Read))
	}
	text := fmt.Sprintf("%s: %s rows in %s requests", of, countText(float64(c.Rows)), countText(float64(c.Requests)))
	if c.Partial {
		text = fmt.Sprintf("PARTIAL (%s): %d of %d ranges of tokens, %s of the ring, were read: %s rows; intervals hold with 99%% confidence for the whole",
			c.Why, c.Done, c.Ranges, percentText(c.Read), countText(float64(c.Rows)))
	}
	if c.State != "" {
		text += "\nstate in " + c.State
	}
	return text
}

func largeText(b *bufio.Writer, title string, large []inspection.Large, c inspection.Coverage) {
	if len(large) == 0 {
		return
	}
	if c.Read < 1 {
		title += " of those that were read (larger ones may not be among them)"
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, l := range large {
		fmt.Fprintf(b, "  %10s %12s rows %6s  %s\n", bytesText(float64(l.Bytes)), countText(float64(l.Rows)), percentText(l.Share), shortened(inspection.Text(l.Key, l.Token)))
	}
}

// shortened cuts a key that is too long for a line and removes characters that would disturb a
// terminal.
func shortened(text string) string {
	var s strings.Builder
	for i, c := range []rune(text) {
		if i == 120 {
			s.WriteString("…")
			break
		}
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			c = '.'
		}
		s.WriteRune(c)
	}
	return s.String()
}

func logicalText(b *bufio.Writer, std *stdio, r *inspection.Report) {
	l := r.Logical
	if l == nil {
		return
	}
	fmt.Fprintf(b, "\nlogical partitions, over all their shards\n")
	if l.Partitions.Value == 0 {
		entry(std, "", l.Note)
		return
	}
	note := ""
	if l.Note != "" {
		note = " (" + l.Note + ")"
	}
	entry(std, "number", fmt.Sprintf("%s%s; each has %.3g physical ones on average, %.0f at the most.", intervalText(l.Partitions, countText), note, l.PhysicalMean, l.PhysicalMax))
	entry(std, "rows", fmt.Sprintf("p50 %s, p99 %s, max %s", intervalText(l.Rows.P50, countText), intervalText(l.Rows.P99, countText), countText(l.Rows.Max)))
	entry(std, "bytes", fmt.Sprintf("p50 %s, p99 %s, max %s", intervalText(l.Bytes.P50, bytesText), intervalText(l.Bytes.P99, bytesText), bytesText(l.Bytes.Max)))
	entry(std, "evenness", fmt.Sprintf("in the largest, the fullest physical partition has %.3g × the mean of its physical ones.", l.Evenness))
	largeText(b, "largest logical partitions", l.Largest, inspection.Coverage{Read: 1})
}

// dynamoText prints what DynamoDB reports of a table, and describes its indexes.
func dynamoText(b *bufio.Writer, std *stdio, r *inspection.Report) {
	d := r.DynamoDB
	fmt.Fprintf(b, "\ntable\n")
	mode := "on demand"
	if d.Billing == "PROVISIONED" {
		mode = fmt.Sprintf("provisioned, %s read and %s write units", countText(float64(d.ReadUnits)), countText(float64(d.WriteUnits)))
	}
	if d.WarmWrites > 0 {
		mode += fmt.Sprintf("; warm throughput %s read and %s write units", countText(float64(d.WarmReads)), countText(float64(d.WarmWrites)))
	}
	entry(std, "throughput", mode+".")
	entry(std, "says itself", fmt.Sprintf("%s items, %s (AWS counts anew every six hours).", countText(float64(d.Items)), bytesText(float64(d.Bytes))))
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		fmt.Fprintf(b, "\nindex %s, %s: HASH %s", ix.Name, ix.Kind, strings.Join(ix.Key[:ix.Partition], ", "))
		if len(ix.Key) > ix.Partition {
			fmt.Fprintf(b, ", RANGE %s", strings.Join(ix.Key[ix.Partition:], ", "))
		}
		fmt.Fprintf(b, "; %s\n", ix.Projection)
		if ix.Sharding != "" {
			entry(std, "sharded", ix.Sharding+".")
		}
		entry(std, "entries", fmt.Sprintf("%s in %s partition keys.", intervalText(ix.Entries, wholeText), intervalText(ix.Partitions, wholeText)))
		for j, l := range ix.Largest {
			if j == 3 {
				break
			}
			fmt.Fprintf(b, "  %10s %12s items %6s  %s\n", "", countText(float64(l.Rows)), percentText(l.Share), shortened(inspection.Text(l.Key, l.Token)))
		}
	}
}

func nodesText(b *bufio.Writer, std *stdio, r *inspection.Report) {
	fmt.Fprintf(b, "\nnodes\n")
	if len(r.Nodes) > 1 {
		fmt.Fprintf(b, "  %-16s %-14s %-10s %8s %12s %14s %10s %12s\n", "", "data centre", "rack", "ring", "bytes", "rows", "over mean", "ring alone")
		for _, n := range r.Nodes {
			fmt.Fprintf(b, "  %-16s %-14s %-10s %8s %12s %14s %9.2f× %11.2f×\n", n.Address, n.DataCenter, n.Rack, percentText(n.Ring), bytesText(n.Bytes), countText(n.Rows), n.OverMean, n.RingOver)
		}
	}
	if r.NodesNote != "" {
		entry(std, "", r.NodesNote+".")
	}
}

func growthText(b *bufio.Writer, std *stdio, r *inspection.Report) {
	fmt.Fprintf(b, "\ngrowth\n")
	g := r.Growth
	if g == nil {
		entry(std, "", r.GrowthNote+".")
		return
	}
	entry(std, "since", fmt.Sprintf("%s, %s", g.Since.Local().Format("2006-01-02 15:04:05"), gapText(g.Days)))
	entry(std, "a day", fmt.Sprintf("%s rows, %s, %s partitions", intervalText(g.RowsPerDay, countText), intervalText(g.BytesPerDay, bytesText), intervalText(g.PartitionsPerDay, countText)))
	for _, p := range g.Largest {
		when := ""
		for _, at := range []struct {
			limit string
			time  *time.Time
		}{{"10 MB", p.Good}, {"100 MB", p.Most}} {
			if at.time != nil {
				when += fmt.Sprintf(", %s about %s", at.limit, at.time.Format("2006-01-02"))
			}
		}
		fmt.Fprintf(b, "  %10s → %10s  %12s a day%s  %s\n", bytesText(float64(p.BytesBefore)), bytesText(float64(p.Bytes)), bytesText(p.BytesPerDay), when, shortened(p.Name))
	}
}

func gapText(days float64) string {
	if days >= 2 {
		return fmt.Sprintf("%.1f days ago", days)
	}
	return time.Duration(days*24*float64(time.Hour)).Round(time.Second).String() + " ago"
}

func predictText(p inspection.Prediction, fraction float64, chosen, rest bool) string {
	of := "the whole table"
	if fraction < 1 {
		of = fmt.Sprintf("a sample, %s of the ring", percentText(fraction))
		if chosen {
			of += " (the whole is much: --whole --yes reads it)"
		}
	}
	if rest {
		of = "what is left of " + of
	}
	text := fmt.Sprintf("%s will take about %s requests, %s rows, %s", of, countText(p.Requests), countText(p.Rows), bytesText(p.Bytes))
	if p.Seconds >= 1 {
		text += fmt.Sprintf(", %s at the rate set", time.Duration(p.Seconds*float64(time.Second)).Round(time.Second))
	}
	switch {
	case p.Currency != "":
		text += fmt.Sprintf("; %s read units, %.4f %s (prices of %s)", countText(p.ReadUnits), p.Money, p.Currency, p.Prices)
	case p.ReadUnits > 0:
		text += fmt.Sprintf("; %s read units", countText(math.Ceil(p.ReadUnits)))
	}
	return text + "; known from " + p.From
}

func intervalText(i inspection.Interval, text func(float64) string) string {
	if i.Low == i.High {
		return text(i.Value)
	}
	if math.IsInf(i.High, 1) {
		return fmt.Sprintf("%s (%s or more)", text(i.Value), text(i.Low))
	}
	return fmt.Sprintf("%s (%s to %s)", text(i.Value), text(i.Low), text(i.High))
}

func countText(v float64) string {
	if math.Abs(v) < 100 && v != math.Trunc(v) {
		return fmt.Sprintf("%.3g", v)
	}
	return capacity.Number(math.Round(v))
}

// wholeText formats a count of things that cannot be split.
func wholeText(v float64) string { return countText(math.Round(v)) }

// bytesText formats a size in decimal units, the units in which limits are given.
func bytesText(v float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if math.Abs(v) >= u.size {
			return fmt.Sprintf("%.3g %s", v/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f B", v)
}

func percentText(x float64) string {
	switch p := 100 * x; {
	case p == 0:
		return "0%"
	case p < 0.1:
		return fmt.Sprintf("%.2g%%", p)
	case p > 99.9 && p < 100:
		return "99.9%"
	}
	return fmt.Sprintf("%.3g%%", 100*x)
}
