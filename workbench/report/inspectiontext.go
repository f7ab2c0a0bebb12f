// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// InspectionText writes an inspection for a terminal.
func InspectionText(w io.Writer, r *inspection.Report) error {
	b := bufio.NewWriter(w)
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
	out("  %-13s%s\n", "bytes", intervalText(r.Bytes, sizeText))
	if r.Partitions.Value > 0 {
		out("\n  %-15s  %-29s bytes\n", size, rows)
		for _, q := range []struct {
			name        string
			rows, bytes inspection.Interval
		}{
			{"p50", r.Sizes.Rows.P50, r.Sizes.Bytes.P50}, {"p90", r.Sizes.Rows.P90, r.Sizes.Bytes.P90},
			{"p99", r.Sizes.Rows.P99, r.Sizes.Bytes.P99}, {"p99.9", r.Sizes.Rows.P999, r.Sizes.Bytes.P999},
		} {
			out("  %14s   %-28s  %s\n", q.name, intervalText(q.rows, numberText), intervalText(q.bytes, sizeText))
		}
		atLeast := ""
		if r.Coverage.Read < 1 {
			atLeast = "at least "
		}
		out("  %14s   %-28s  %s\n", "max", atLeast+numberText(r.Sizes.Rows.Max), atLeast+sizeText(r.Sizes.Bytes.Max))
		out("  %14s   %-28s  %s\n\n", "mean", numberText(r.Sizes.Rows.Mean), sizeText(r.Sizes.Bytes.Mean))
		Entry(b, "bytes are", r.Sizes.How+".")
		if r.Coverage.Unseen != "" {
			Entry(b, "a sample", r.Coverage.Unseen+".")
		}
		if r.Whole != "" {
			Entry(b, "note", r.Whole+".")
		}
		if r.DynamoDB == nil {
			Entry(b, "above 10 MB", fmt.Sprintf("%s partitions; above 100 MB %s.", intervalText(r.Above.Good, wholeText), intervalText(r.Above.Most, wholeText)))
		}
	}
	largeList(b, "largest partitions", r.Largest, r.Coverage)
	logicalText(b, r)
	if r.DynamoDB != nil {
		dynamoText(b, r)
	} else {
		nodesText(b, r)
	}
	for _, m := range r.Maps {
		out("\n")
		PartitionsText(b, m, r.DynamoDB == nil)
	}
	growthText(b, r)

	out("\n%s: %s\n", r.Key.Shape, r.Key.CQL)
	Entry(b, "means", r.Key.Means)
	for _, f := range r.Key.Findings {
		label := "note"
		if f.Warning {
			label = "warning"
		}
		Entry(b, label, f.Name+": "+strings.TrimSpace(f.Evidence+" "+f.Advice))
	}

	if len(r.Views) > 0 {
		out("\nwhat the nodes show in system_views\n")
		for _, v := range r.Views {
			out("  %-16s %-22s %-10s %s\n", v.Node, v.Table, v.Column, numberText(v.Value))
		}
	}
	for _, o := range r.Outside {
		out("\n%s (%s)\n", o.What, o.From)
		for _, p := range o.Partitions {
			plus := ""
			if p.Error > 0 {
				plus = fmt.Sprintf(" (up to %s too high)", numberText(p.Error))
			}
			out("  %12s %-12s %s%s\n", numberText(p.Count), p.Unit, p.Key, plus)
		}
		if o.Text != "" {
			Entry(b, "", o.Text)
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
		of = fmt.Sprintf("a sample, %s of the ring; intervals hold with 99%% confidence", Percent(c.Read))
	}
	text := fmt.Sprintf("%s: %s rows in %s requests", of, numberText(float64(c.Rows)), numberText(float64(c.Requests)))
	if c.Partial {
		text = fmt.Sprintf("PARTIAL (%s): %d of %d ranges of tokens, %s of the ring, were read: %s rows; intervals hold with 99%% confidence for the whole",
			c.Why, c.Done, c.Ranges, Percent(c.Read), numberText(float64(c.Rows)))
	}
	if c.State != "" {
		text += "\nstate in " + c.State
	}
	return text
}

func largeList(b *bufio.Writer, title string, large []inspection.Large, c inspection.Coverage) {
	if len(large) == 0 {
		return
	}
	if c.Read < 1 {
		title += " of those that were read (larger ones may not be among them)"
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, l := range large {
		fmt.Fprintf(b, "  %10s %12s rows %6s  %s\n", sizeText(float64(l.Bytes)), numberText(float64(l.Rows)), Percent(l.Share), shortened(inspection.Text(l.Key, l.Token)))
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

func logicalText(b *bufio.Writer, r *inspection.Report) {
	l := r.Logical
	if l == nil {
		return
	}
	fmt.Fprintf(b, "\nlogical partitions, over all their shards\n")
	if l.Partitions.Value == 0 {
		Entry(b, "", l.Note)
		return
	}
	note := ""
	if l.Note != "" {
		note = " (" + l.Note + ")"
	}
	Entry(b, "number", fmt.Sprintf("%s%s; each has %.3g physical ones on average, %.0f at the most.", intervalText(l.Partitions, numberText), note, l.PhysicalMean, l.PhysicalMax))
	Entry(b, "rows", fmt.Sprintf("p50 %s, p99 %s, max %s", intervalText(l.Rows.P50, numberText), intervalText(l.Rows.P99, numberText), numberText(l.Rows.Max)))
	Entry(b, "bytes", fmt.Sprintf("p50 %s, p99 %s, max %s", intervalText(l.Bytes.P50, sizeText), intervalText(l.Bytes.P99, sizeText), sizeText(l.Bytes.Max)))
	Entry(b, "evenness", fmt.Sprintf("in the largest, the fullest physical partition has %.3g × the mean of its physical ones.", l.Evenness))
	largeList(b, "largest logical partitions", l.Largest, inspection.Coverage{Read: 1})
}

// dynamoText prints what DynamoDB reports of a table, and describes its indexes.
func dynamoText(b *bufio.Writer, r *inspection.Report) {
	d := r.DynamoDB
	fmt.Fprintf(b, "\ntable\n")
	mode := "on demand"
	if d.Billing == "PROVISIONED" {
		mode = fmt.Sprintf("provisioned, %s read and %s write units", numberText(float64(d.ReadUnits)), numberText(float64(d.WriteUnits)))
	}
	if d.WarmWrites > 0 {
		mode += fmt.Sprintf("; warm throughput %s read and %s write units", numberText(float64(d.WarmReads)), numberText(float64(d.WarmWrites)))
	}
	Entry(b, "throughput", mode+".")
	Entry(b, "says itself", fmt.Sprintf("%s items, %s (AWS counts anew every six hours).", numberText(float64(d.Items)), sizeText(float64(d.Bytes))))
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		fmt.Fprintf(b, "\nindex %s, %s: HASH %s", ix.Name, ix.Kind, strings.Join(ix.Key[:ix.Partition], ", "))
		if len(ix.Key) > ix.Partition {
			fmt.Fprintf(b, ", RANGE %s", strings.Join(ix.Key[ix.Partition:], ", "))
		}
		fmt.Fprintf(b, "; %s\n", ix.Projection)
		if ix.Sharding != "" {
			Entry(b, "sharded", ix.Sharding+".")
		}
		Entry(b, "entries", fmt.Sprintf("%s in %s partition keys.", intervalText(ix.Entries, wholeText), intervalText(ix.Partitions, wholeText)))
		for j, l := range ix.Largest {
			if j == 3 {
				break
			}
			fmt.Fprintf(b, "  %10s %12s items %6s  %s\n", "", numberText(float64(l.Rows)), Percent(l.Share), shortened(inspection.Text(l.Key, l.Token)))
		}
	}
}

func nodesText(b *bufio.Writer, r *inspection.Report) {
	fmt.Fprintf(b, "\nnodes\n")
	if len(r.Nodes) > 1 {
		fmt.Fprintf(b, "  %-16s %-14s %-10s %8s %12s %14s %10s %12s\n", "", "data centre", "rack", "ring", "bytes", "rows", "over mean", "ring alone")
		for _, n := range r.Nodes {
			fmt.Fprintf(b, "  %-16s %-14s %-10s %8s %12s %14s %9.2f× %11.2f×\n", n.Address, n.DataCenter, n.Rack, Percent(n.Ring), sizeText(n.Bytes), numberText(n.Rows), n.OverMean, n.RingOver)
		}
	}
	if r.NodesNote != "" {
		Entry(b, "", r.NodesNote+".")
	}
}

func growthText(b *bufio.Writer, r *inspection.Report) {
	fmt.Fprintf(b, "\ngrowth\n")
	g := r.Growth
	if g == nil {
		Entry(b, "", r.GrowthNote+".")
		return
	}
	Entry(b, "since", fmt.Sprintf("%s, %s", g.Since.Local().Format("2006-01-02 15:04:05"), gapText(g.Days)+" ago"))
	Entry(b, "a day", fmt.Sprintf("%s rows, %s, %s partitions", intervalText(g.RowsPerDay, numberText), intervalText(g.BytesPerDay, sizeText), intervalText(g.PartitionsPerDay, numberText)))
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
		fmt.Fprintf(b, "  %10s → %10s  %12s a day%s  %s\n", sizeText(float64(p.BytesBefore)), sizeText(float64(p.Bytes)), sizeText(p.BytesPerDay), when, shortened(p.Name))
	}
}

// PredictionText says how much an inspection will read, how long that takes, and what it costs.
// fraction is the share of the table to read. chosen says whether evenkeel chose it, and rest
// whether a part has been read before.
func PredictionText(p inspection.Prediction, fraction float64, chosen, rest bool) string {
	of := "the whole table"
	if fraction < 1 {
		of = fmt.Sprintf("a sample, %s of the ring", Percent(fraction))
		if chosen {
			of += " (the whole is much: --whole --yes reads it)"
		}
	}
	if rest {
		of = "what is left of " + of
	}
	text := fmt.Sprintf("%s will take about %s requests, %s rows, %s", of, numberText(p.Requests), numberText(p.Rows), sizeText(p.Bytes))
	if p.Seconds >= 1 {
		text += fmt.Sprintf(", %s at the rate set", time.Duration(p.Seconds*float64(time.Second)).Round(time.Second))
	}
	switch {
	case p.Currency != "":
		text += fmt.Sprintf("; %s read units, %.4f %s (prices of %s)", numberText(p.ReadUnits), p.Money, p.Currency, p.Prices)
	case p.ReadUnits > 0:
		text += fmt.Sprintf("; %s read units", numberText(math.Ceil(p.ReadUnits)))
	}
	text += "; known from " + p.From
	if p.ReadUnits > 0 {
		return segmentWords.Replace(text)
	}
	return text
}

// wholeText formats a count of things that cannot be split.
func wholeText(v float64) string { return numberText(math.Round(v)) }

// Percent formats a share. A small one keeps two digits.
func Percent(x float64) string {
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
