// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// figureText formats a figure, with its interval if it was estimated.
func figureText(f simulation.Figure, number func(float64) string) string {
	if f.Exact() || number(f.Low) == number(f.High) {
		return number(f.Value)
	}
	return fmt.Sprintf("about %s (%s to %s)", number(f.Value), number(f.Low), number(f.High))
}

func countText(x float64) string { return count(int64(x + 0.5)) }

// valuesText says how many values a key has and how many rows and bytes they hold, which values
// exceed the limits, and how many rows have no place because a column is null or empty.
func valuesText(k *simulation.KeyReport) (lines []string) {
	v := &k.Values
	if k.Rows > 0 {
		lines = append(lines, fmt.Sprintf("%s of the key; rows of one: p50 %s, p99 %s, most %s", valuesOf(v.Count),
			figureText(v.Rows.P50, countText), figureText(v.Rows.P99, countText), figureText(v.Rows.Max, countText)))
	}
	if v.Bytes.Max.Value > 0 {
		lines = append(lines, fmt.Sprintf("bytes of one: p50 %s, p99 %s, most %s",
			figureText(v.Bytes.P50, sizeText), figureText(v.Bytes.P99, sizeText), figureText(v.Bytes.Max, sizeText)))
	}
	if v.Over != nil && k.Rows > 0 {
		lines = append(lines, overText(v))
	}
	for _, n := range k.Nulls {
		rows := "rows have"
		if n.Rows == 1 {
			rows = "row has"
		}
		lines = append(lines, fmt.Sprintf("%s %s no place under this key: column %s is null or empty", count(n.Rows), rows, n.Column))
	}
	return lines
}

// valuesOf formats a number of values.
func valuesOf(f simulation.Figure) string {
	if f.Exact() {
		return counted(int64(f.Value), "value")
	}
	return figureText(f, countText) + " values"
}

// overText says how many values exceed the limits that the user gave.
func overText(v *simulation.ValuesReport) string {
	o := v.Over
	var limits []string
	if o.Rows > 0 {
		limits = append(limits, counted(o.Rows, "row"))
	}
	if o.Bytes > 0 {
		limits = append(limits, sizeText(float64(o.Bytes)))
	}
	limit := strings.Join(limits, " and ")
	switch {
	case o.Values.High == 0:
		return "limit of " + limit + ": kept by all values"
	case o.Values.Low == 0:
		return fmt.Sprintf("limit of %s: no value is known to exceed it; of %s, at most %s may, with at most %s", limit, valuesOf(v.Count), count(int64(math.Ceil(o.Values.High))), counted(int64(math.Ceil(o.Held.High)), "row"))
	}
	rows := figureText(o.Held, countText) + " rows"
	if o.Held.Exact() {
		rows = counted(int64(o.Held.Value), "row")
	}
	return fmt.Sprintf("limit of %s: EXCEEDED by %s of %s, with %s", limit, figureText(o.Values, countText), valuesOf(v.Count), rows)
}

// limitMark says in a word whether a key's values keep the user's limits, with the class of the word.
func limitMark(v *simulation.ValuesReport) (class, text string) {
	switch {
	case v.Over.Values.High == 0:
		return "good", "kept"
	case v.Over.Values.Low == 0:
		return "", "perhaps kept"
	}
	return "exceeded", "exceeded"
}

// sweepRows returns a key's spread for each number of partitions, as rows of a table.
func sweepRows(k *simulation.KeyReport) (rows [][]string) {
	if len(k.Sweep) == 0 {
		return nil
	}
	row := func(n int, s *simulation.Spread) {
		rows = append(rows, []string{count(int64(n)), count(s.Max), count(s.Min), ratio(s.MaxOverMean), ratio(s.CV), chance(s.PValue), s.Reading(n)})
	}
	row(len(k.Sizes), &k.Spread)
	for i := range k.Sweep {
		row(k.Sweep[i].Partitions, &k.Sweep[i].Spread)
	}
	return rows
}

var sweepHead = []string{"partitions", "fullest", "emptiest", "max/mean", "cv", "p", "reading"}

func textSweep(w io.Writer, k *simulation.KeyReport) {
	if rows := sweepRows(k); rows != nil {
		textTable(w, "  ", sweepHead, rows, 1)
	}
}

// textTable writes a table. The last words columns are words, which it aligns left.
func textTable(w io.Writer, indent string, head []string, rows [][]string, words int) {
	wide := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			wide[i] = max(wide[i], len([]rune(cell)))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		line := indent
		for i, cell := range row {
			pad := strings.Repeat(" ", wide[i]-len([]rune(cell)))
			if i >= len(head)-words {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

var uniformityHead = []string{"partition key", "values", "most frequent", "uniformity"}

// uniformityRows returns the rows of the table of partition keys that DynamoDB's documentation has.
func uniformityRows(list []simulation.UniformityReport) (rows [][]string) {
	for i := range list {
		u := &list[i]
		rows = append(rows, []string{u.Name, figureText(u.Values, countText), figureText(u.Hottest, share), string(u.Verdict) + ": " + u.Why})
	}
	return rows
}

func textUniformity(w io.Writer, list []simulation.UniformityReport) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "\nuniformity of each attribute as a partition key")
	rows := uniformityRows(list)
	name := 0
	for _, row := range append([][]string{uniformityHead}, rows...) {
		name = max(name, len([]rune(row[0])))
	}
	pad := func(s string) string { return s + strings.Repeat(" ", name-len([]rune(s))) }
	for _, row := range rows {
		row[0] = pad(row[0])
	}
	textTable(w, "  ", append([]string{pad(uniformityHead[0])}, uniformityHead[1:]...), rows, 1)
}

// values writes the same texts as valuesText, and the sweep, to a page.
func (p *keysPage) values(k *simulation.KeyReport) {
	p.raw("<ul>\n")
	for _, line := range valuesText(k) {
		class := ""
		if strings.Contains(line, "EXCEEDED") {
			class = ` class="exceeded"`
		}
		p.put("<li"+class+">", sentence(line), "</li>\n")
	}
	p.raw("</ul>\n")
	if rows := sweepRows(k); rows != nil && k.Rows > 0 {
		p.numbers("Numbers of partitions", []string{"Partitions", "Fullest", "Emptiest", "Max/mean", "CV", "p", "Reading"}, rows)
	}
}

// uniformity writes the table of uniformity to a page.
func (p *keysPage) uniformity(list []simulation.UniformityReport) {
	if len(list) == 0 {
		return
	}
	p.raw(`<section aria-labelledby="uniformity"><h2 id="uniformity">Uniformity</h2>
<p>Each attribute as a partition key, judged as DynamoDB's documentation judges them: does it spread the load evenly?</p>
<div class="scroll" tabindex="0" role="region" aria-labelledby="uniformity"><table><thead><tr><th scope="col">Partition key</th><th scope="col">Values</th><th scope="col">Most frequent</th><th scope="col">Uniformity</th><th scope="col">Why</th></tr></thead><tbody>
`)
	for i, row := range uniformityRows(list) {
		class := map[simulation.Verdict]string{simulation.Good: "good", simulation.Bad: "exceeded"}[list[i].Verdict]
		p.put(`<tr><th scope="row">`, row[0], `</th><td class="n">`, row[1], `</td><td class="n">`, row[2], `</td><td class="`+class+`">`, string(list[i].Verdict), `</td><td class="w">`, sentence(list[i].Why), "</td></tr>\n")
	}
	p.raw("</tbody></table></div></section>\n")
}
