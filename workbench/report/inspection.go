// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// inspectionPage writes the result of an inspection.
type inspectionPage struct {
	page
	r    *inspection.Report
	hide *redactor
}

// InspectionHTML writes the result of an inspection as one file, which has no script and loads
// nothing. It replaces values of keys by a number and their shape, unless show is set.
func InspectionHTML(out io.Writer, r *inspection.Report, show bool) error {
	p := &inspectionPage{page{w: bufio.NewWriter(out)}, r, &redactor{show: show}}
	p.begin("Partitions of "+r.Table, "sizes")
	p.put("<p>", fmt.Sprintf("%s; %s.", r.Store, r.At.UTC().Format("2006-01-02 15:04 UTC")), "</p>\n</header>\n<main>\n")
	p.verdict()
	p.sizes()
	if r.DynamoDB != nil {
		p.indexes()
	} else {
		p.nodes()
	}
	p.maps()
	p.growth()
	p.largest()
	p.keyOf()
	p.hidden()
	return p.end()
}

// verdict writes the warnings first, then how much of the table was read.
func (p *inspectionPage) verdict() {
	var bad []inspection.Finding
	for _, f := range p.r.Key.Findings {
		if f.Warning {
			bad = append(bad, f)
		}
	}
	p.raw("<section aria-labelledby=\"verdict\"><h2 id=\"verdict\">Verdict</h2>\n")
	switch len(bad) {
	case 0:
		p.raw("<p class=\"verdict\">Nothing that was read speaks against this key.</p>\n")
	case 1:
	default:
		var names []string
		for _, f := range bad {
			names = append(names, f.Name)
		}
		p.put("<p class=\"verdict\">", sentence(fmt.Sprintf("%d warnings: %s", len(bad), strings.Join(names, "; "))), "</p>\n")
	}
	for _, f := range bad {
		p.finding(&f)
	}
	c := p.r.Coverage
	text := fmt.Sprintf("The whole table was read: %s in %s.", counted(c.Rows, "row"), counted(c.Requests, "request"))
	switch {
	case c.Partial:
		text = fmt.Sprintf("This is partial (%s): %s of the table was read, %s. Intervals hold with 99%% confidence for the whole.", c.Why, part(c.Read), counted(c.Rows, "row"))
	case c.Read < 1:
		text = fmt.Sprintf("A sample was read, %s of the table: %s in %s. Intervals hold with 99%% confidence.", part(c.Read), counted(c.Rows, "row"), counted(c.Requests, "request"))
	}
	p.put("<p>", text, "</p>\n</section>\n")
}

func (p *inspectionPage) finding(f *inspection.Finding) {
	p.put("<p><strong>", sentence(f.Name), "</strong> ", strings.TrimSuffix(sentence(f.Evidence), "."), " ", f.Advice, "</p>\n")
}

// inspectionLimits returns the target whose limits of sizes apply to the store.
func inspectionLimits(r *inspection.Report) advice.Target {
	if r.DynamoDB != nil {
		return advice.DynamoDB
	}
	return advice.Cassandra
}

func intervalOf(i inspection.Interval) extent { return extent{i.Value, i.Low, i.High} }

// rowsName returns the heading of columns of rows.
func rowsName(r *inspection.Report) string {
	if r.DynamoDB != nil {
		return "Items"
	}
	return "Rows"
}

func (p *inspectionPage) sizes() {
	p.raw("<section aria-labelledby=\"sizes\"><h2 id=\"sizes\" tabindex=\"-1\">Sizes</h2>\n")
	if p.r.Curve == nil {
		p.raw("<p>No partition was read.</p>\n</section>\n")
		return
	}
	target := inspectionLimits(p.r)
	b := p.r.Sizes.Bytes
	s := series{
		name: p.r.Table, partitions: intervalOf(p.r.Partitions), rows: p.r.Bytes.Value, fullest: exact(b.Max), inBytes: true,
		p50: intervalOf(b.P50), p90: intervalOf(b.P90), p99: intervalOf(b.P99), most: exact(b.Max),
	}
	if b.Most.High > b.Max { // of a sample, the largest may not have been read
		s.most.high = b.Most.High
	}
	for _, c := range p.r.Curve.Sizes {
		s.sizes = append(s.sizes, profile.Bulk{Count: c.Count, Bytes: c.Bytes})
	}
	for _, c := range p.r.Curve.Bounds {
		s.bounds = append(s.bounds, bound{c.Share, c.Low, c.High})
	}
	list := []series{s}
	p.raw("<div class=\"pair\">\n")
	p.cumulative("sizes-cdf", "Partitions by size: the share that has up to so many bytes; "+limitsText(target), sizeLimits(target), list)
	p.lorenz("sizes-lorenz", list)
	p.raw("</div>\n")
	var rows [][]string
	for _, q := range []struct {
		name        string
		rows, bytes inspection.Interval
	}{
		{"p50", p.r.Sizes.Rows.P50, b.P50}, {"p90", p.r.Sizes.Rows.P90, b.P90}, {"p99", p.r.Sizes.Rows.P99, b.P99}, {"p99.9", p.r.Sizes.Rows.P999, b.P999},
	} {
		rows = append(rows, []string{q.name, intervalText(q.rows, numberText), intervalText(q.bytes, sizeText)})
	}
	rows = append(rows, []string{"Largest that was read", numberText(p.r.Sizes.Rows.Max), sizeText(b.Max)}, []string{"Mean", numberText(p.r.Sizes.Rows.Mean), sizeText(b.Mean)},
		[]string{"All " + intervalText(p.r.Partitions, numberText) + " partitions", intervalText(p.r.Rows, numberText), intervalText(p.r.Bytes, sizeText)})
	p.numbers("Sizes of partitions", []string{"Partition", rowsName(p.r), "Bytes"}, rows)
	p.put("<p class=\"words\">Bytes are ", p.r.Sizes.How, ".</p>\n")
	if p.r.Whole != "" {
		p.put("<p class=\"words\">", sentence(p.r.Whole), "</p>\n")
	}
	if l := p.r.Logical; l != nil {
		p.raw("<h3>Logical partitions, over all their shards</h3>\n")
		if l.Partitions.Value == 0 {
			p.put("<p>", sentence(l.Note), "</p>\n")
		} else {
			p.put("<p>", fmt.Sprintf("%s of them, of %.3g physical ones each on average, %s at the most. Half have up to %s, 99 of 100 up to %s, the largest has %s; in it the fullest physical partition has %.3g times the mean of them.",
				intervalText(l.Partitions, numberText), l.PhysicalMean, numberText(l.PhysicalMax), sizeText(l.Bytes.P50.Value), sizeText(l.Bytes.P99.Value), sizeText(l.Bytes.Max), l.Evenness), "</p>\n")
		}
	}
	p.raw("</section>\n")
}

// indexes describes the secondary indexes of a DynamoDB table.
func (p *inspectionPage) indexes() {
	if len(p.r.DynamoDB.Indexes) == 0 {
		return
	}
	p.raw("<section aria-labelledby=\"indexes\"><h2 id=\"indexes\">Secondary indexes</h2>\n")
	var rows [][]string
	for i := range p.r.DynamoDB.Indexes {
		ix := &p.r.DynamoDB.Indexes[i]
		largest, of := "", ""
		if len(ix.Largest) > 0 {
			largest, of = largeText(&ix.Largest[0], p.hide), part(ix.Largest[0].Share)
		}
		rows = append(rows, []string{ix.Name + " (" + ix.Kind + ")", strings.Join(ix.Key, ", "), intervalText(ix.Entries, numberText), intervalText(ix.Partitions, numberText), largest, of, ix.Sharding})
	}
	p.numbers("Secondary indexes", []string{"Index", "Key", "Entries", "Partition keys", "The largest", "Its share", "Sharded"}, rows)
	p.raw("</section>\n")
}

func (p *inspectionPage) nodes() {
	if len(p.r.Nodes) == 0 && p.r.NodesNote == "" {
		return
	}
	p.raw("<section aria-labelledby=\"nodes\"><h2 id=\"nodes\">Nodes</h2>\n")
	if len(p.r.Nodes) > 1 {
		c := cluster{what: "Bytes of each node over the mean of its data centre", designs: []string{p.r.Table}, loads: [][]float64{nil}}
		for _, n := range p.r.Nodes {
			c.nodes, c.ring, c.loads[0] = append(c.nodes, n.Address), append(c.ring, n.RingOver), append(c.loads[0], n.OverMean)
		}
		if len(p.r.Nodes) <= mostNodes {
			p.cluster("nodes-load", &c)
		}
		var rows [][]string
		for _, n := range p.r.Nodes {
			rows = append(rows, []string{n.Address, n.DataCenter, n.Rack, part(n.Ring), numberText(n.Rows), sizeText(n.Bytes), ratio(n.OverMean), ratio(n.RingOver)})
		}
		p.numbers("Nodes", []string{"Node", "Data centre", "Rack", "Of the ring", "Rows", "Bytes", "Over the mean", "The ring alone"}, rows)
	}
	if p.r.NodesNote != "" {
		p.put("<p>", sentence(p.r.NodesNote), "</p>\n")
	}
	p.raw("</section>\n")
}

func (p *inspectionPage) growth() {
	p.raw("<section aria-labelledby=\"growth\"><h2 id=\"growth\">Growth since the last inspection</h2>\n")
	g := p.r.Growth
	if g == nil {
		p.put("<p>", sentence(p.r.GrowthNote), "</p>\n</section>\n")
		return
	}
	p.put("<p>", fmt.Sprintf("Since %s, in %s, a day: %s rows, %s, %s partitions.", g.Since.UTC().Format("2006-01-02 15:04 UTC"), gapText(g.Days),
		intervalText(g.RowsPerDay, numberText), intervalText(g.BytesPerDay, signedSize), intervalText(g.PartitionsPerDay, numberText)), "</p>\n")
	var rows [][]string
	for i := range g.Largest {
		f := &g.Largest[i]
		rows = append(rows, []string{keyText(p.r, f.Token, f.Name, p.hide), sizeText(float64(f.BytesBefore)), sizeText(float64(f.Bytes)), sizeText(f.BytesPerDay), dateText(f.Good), dateText(f.Most)})
	}
	if len(rows) > 0 {
		p.numbers("Partitions that grew most", []string{"Partition", "Before", "Now", "A day", "10 MB", "100 MB"}, rows)
	}
	p.raw("</section>\n")
}

func dateText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format("2006-01-02")
}

// keyText returns a partition's key with its values hidden. It returns only the token if the
// partition's name is its token.
func keyText(r *inspection.Report, token int64, name string, hide *redactor) string {
	for _, list := range [][]inspection.Large{r.Largest, r.Longest} {
		for i := range list {
			if list[i].Token == token {
				return largeText(&list[i], hide)
			}
		}
	}
	if strings.HasPrefix(name, "token ") {
		return name
	}
	return hide.value(shorten(name, 80))
}

func largeText(l *inspection.Large, hide *redactor) string {
	if l.Key == nil {
		return fmt.Sprintf("token %d", l.Token)
	}
	var list []string
	for _, k := range l.Key {
		text := k.Value
		if _, err := strconv.Atoi(text); k.Column != "shard" || err != nil { // a shard number reveals nothing about anybody
			text = hide.value(shorten(text, 60))
		}
		list = append(list, k.Column+" = "+text)
	}
	return strings.Join(list, ", ")
}

// largest draws the largest partitions as bars.
func (p *inspectionPage) largest() {
	if len(p.r.Largest) == 0 {
		return
	}
	p.raw("<section aria-labelledby=\"largest\"><h2 id=\"largest\">Largest partitions</h2>\n")
	of := ""
	if p.r.Coverage.Read < 1 {
		of = " of those that were read (larger ones may not be among them)"
	}
	shown := p.r.Largest[:min(12, len(p.r.Largest))]
	words := fmt.Sprintf("The largest has %s of all bytes; evenly each would have %s.", part(shown[0].Share), part(1/math.Max(1, p.r.Partitions.Value)))
	a := &axes{left: 44, top: 12, width: 820, height: 120, x: linear(0, float64(len(shown))), y: linear(0, math.Max(shown[0].Share*1.05, 1e-6))}
	p.figure("largest-bars", "The largest partitions"+of+": their share of all bytes", words, nil, func() {
		p.open("largest-bars", 880, 158, words)
		p.ticksY(a, []tick{{0, "0"}, {shown[0].Share / 2, part(shown[0].Share / 2)}, {shown[0].Share, part(shown[0].Share)}})
		slot := a.width / float64(len(shown))
		each := math.Min(48, slot-8)
		for i := range shown {
			_, y := a.at(0, shown[i].Share)
			p.put(fmt.Sprintf(`<rect class="fill s0" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>`, a.left+slot*(float64(i)+0.5)-each/2, y, each, a.top+a.height-y),
				largeText(&shown[i], p.hide)+", "+part(shown[i].Share), "</title></rect>\n")
			p.raw(fmt.Sprintf(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", a.left+slot*(float64(i)+0.5), a.top+a.height+17, i+1))
		}
		p.raw("</svg>\n")
	}, nil)
	var rows [][]string
	for i := range p.r.Largest {
		l := &p.r.Largest[i]
		rows = append(rows, []string{fmt.Sprintf("%d. %s", i+1, largeText(l, p.hide)), count(l.Rows), sizeText(float64(l.Bytes)), part(l.Share)})
	}
	p.numbers("The largest partitions", []string{"Partition", rowsName(p.r), "Bytes", "Share"}, rows)
	if !p.hide.show {
		p.raw("<p class=\"words\">Values of keys are hidden: each has a number, by which it is known on this page, and its shape is shown: A for a capital letter, a for a small one, 9 for a digit. --show-keys shows them.</p>\n")
	}
	p.raw("</section>\n")
}

func (p *inspectionPage) keyOf() {
	p.raw("<section aria-labelledby=\"key\"><h2 id=\"key\">The key</h2>\n")
	p.put(`<p class="key"><code>`, p.r.Key.CQL, "</code></p>\n<p>", sentence(string(p.r.Key.Shape)), " ", p.r.Key.Means, "</p>\n")
	for i := range p.r.Key.Findings {
		if !p.r.Key.Findings[i].Warning {
			p.finding(&p.r.Key.Findings[i])
		}
	}
	p.raw("</section>\n")
}

func (p *inspectionPage) hidden() {
	for i, o := range p.r.Outside {
		id := fmt.Sprintf("outside%d", i)
		p.put(`<section aria-labelledby="`+id+`"><h2 id="`+id+`">`, o.What+" ("+o.From+")", "</h2>\n")
		var rows [][]string
		for _, c := range o.Partitions {
			rows = append(rows, []string{p.hide.value(shorten(c.Key, 60)), numberText(c.Count), c.Unit})
		}
		if len(rows) > 0 {
			p.numbers(o.What, []string{"Partition", "Count", "Unit"}, rows)
		}
		if o.Text != "" {
			p.put("<p>", o.Text, "</p>\n")
		}
		p.raw("</section>\n")
	}
	if len(p.r.Hidden) == 0 {
		return
	}
	p.raw("<section aria-labelledby=\"hidden\"><h2 id=\"hidden\">Unknown from here</h2>\n<ul>\n")
	for _, h := range p.r.Hidden {
		p.put("<li>", sentence(h.What), " <code>", h.Command, "</code></li>\n")
	}
	p.raw("</ul>\n</section>\n")
}

// intervalText formats a number and its 99% confidence interval.
func intervalText(i inspection.Interval, text func(float64) string) string {
	return intervalOf(i).text(text)
}

func numberText(v float64) string {
	switch {
	case math.Abs(v) < 100 && v != math.Trunc(v):
		return fmt.Sprintf("%.3g", v)
	case v < 0:
		return "−" + numberText(-v)
	}
	return count(int64(math.Round(v)))
}

// signedSize formats a size that may be negative.
func signedSize(v float64) string {
	if v < 0 {
		return "−" + sizeText(-v)
	}
	return sizeText(v)
}

func gapText(days float64) string {
	if days >= 2 {
		return fmt.Sprintf("%.1f days", days)
	}
	return time.Duration(days * 24 * float64(time.Hour)).Round(time.Second).String()
}
