// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// advised is the number of designs that the text shows.
const advised = 10

// Advice writes advice for a terminal.
func Advice(out io.Writer, r *advice.Report) error {
	w := &paper{w: bufio.NewWriter(out)}
	w.line("%s: %s, for %s", r.Data, counted(r.Rows, "row"), r.Target.Name())
	if r.BadRows > 0 {
		w.line("%s", strings.TrimSuffix(passedOver(r.BadRows), "."))
	}
	if r.Partial {
		w.line("PARTIAL: not all rows were read; all that follows is about those that were")
	}
	if r.Verdict != nil {
		w.verdict(r)
	} else {
		w.head("no verdict")
		w.text(2, sentence(r.NoVerdict)+" Here are the profile, the risks, and what each design could serve.")
	}
	w.profile(r)
	w.risks(r)
	w.designs(r)
	w.head("taken for granted")
	for _, a := range r.Assumptions {
		w.item(a)
	}
	return w.w.Flush()
}

// paper writes lines of about a hundred characters.
type paper struct{ w *bufio.Writer }

const paperWidth = 100

func (w *paper) line(format string, args ...any) { fmt.Fprintf(w.w, format+"\n", args...) }

func (w *paper) head(text string) { w.line("\n%s", strings.ToUpper(text)) }

// text writes a text in lines that are indented by that many characters.
func (w *paper) text(indent int, text string) {
	w.hang(strings.Repeat(" ", indent), indent, text)
}

func (w *paper) item(text string) { w.hang("  · ", 4, text) }

func (w *paper) hang(lead string, indent int, text string) {
	w.w.WriteString(lead)
	column := len([]rune(lead))
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > paperWidth:
			fmt.Fprintf(w.w, "\n%*s", indent, "")
			column = indent
		default:
			w.w.WriteByte(' ')
			column++
		}
		w.w.WriteString(word)
		column += n
	}
	w.w.WriteByte('\n')
}

func (w *paper) verdict(r *advice.Report) {
	v := r.Verdict
	w.head("verdict")
	w.line("  %s", v.Design)
	w.text(2, sentence(v.Summary))
	for _, reason := range v.Reasons {
		w.item(reason)
	}
	for _, e := range v.Extras {
		w.item(fmt.Sprintf("further %s %s, %s: %s", e.Kind, e.Key, shardsText(e.Shards), e.Why))
		if b := e.Bucket; b != nil {
			w.item(bucketText(b))
		}
	}
	for _, u := range v.Unserved {
		w.item(u.Text())
	}
	if v.Cache != "" {
		w.item(v.Cache)
	}
	if v.Fence != "" {
		w.item(v.Fence)
	}
	w.keyShards(v.KeyShards)
	if b := v.Bucket; b != nil {
		w.item(bucketText(b))
	}
	w.hang("  The fact that would change it: ", 4, v.Fact+".")
	w.head("tables")
	for _, d := range v.DDL {
		w.line("  %s", strings.ReplaceAll(d, "\n", "\n  "))
	}
	if title, tables := shardsOfFew(v.KeyShards); title != "" {
		w.line("")
		w.line("  %s", title)
		for _, d := range tables {
			w.line("  %s", strings.ReplaceAll(d, "\n", "\n  "))
		}
	}
	if len(v.Statements) == 0 {
		return
	}
	w.head("the queries as they are then written")
	for _, x := range v.Statements {
		note := ""
		if x.Note != "" {
			note = ": " + x.Note
		}
		w.text(2, fmt.Sprintf("line %d%s", x.Line, note))
		w.line("    %s", x.Text) // in one piece, so that it can be copied
	}
}

// keyShards writes which keys alone need the shards, with a command for each.
func (w *paper) keyShards(k *advice.KeyShards) {
	if k == nil {
		return
	}
	w.item(keyShardsText(k))
	for _, hot := range k.Keys {
		if hot.Command != "" {
			w.line("      %s", hot.Command)
		} else if k.OwnTable != "" {
			w.line("      %s", strings.Join(hot.Values, ", "))
		}
	}
}

// shardsOfFew returns a title, and the tables to create instead of the advised one if only a few keys are to
// have shards. If there are no such tables, the title is empty.
func shardsOfFew(k *advice.KeyShards) (title string, tables []string) {
	if k == nil || k.DDL == "" {
		return "", nil
	}
	title, tables = "Or, with shards for that key alone:", []string{k.DDL}
	if len(k.Keys) > 1 {
		title = "Or, with shards for those keys alone:"
	}
	if k.OwnTable != "" {
		tables = append(tables, k.OwnTable)
	}
	return title, tables
}

// keyShardsText returns the sentence that stands before the commands.
func keyShardsText(k *advice.KeyShards) string {
	keys, one := "that key", fmt.Sprintf("one value of %s needs", strings.Join(k.Columns, ", "))
	if len(k.Keys) > 1 {
		keys, one = "those keys", fmt.Sprintf("%d values of %s need", len(k.Keys), strings.Join(k.Columns, ", "))
	}
	others := "the others need none"
	if k.Others > 1 {
		others = fmt.Sprintf("the others need %d", k.Others)
	}
	if k.DDL == "" {
		return fmt.Sprintf("only %s the shards (%s), but a table behind the DynamoDB door has one number for all keys; %s", one, others, k.Why)
	}
	if k.OwnTable != "" {
		this := "without shards"
		if k.Others > 1 {
			this = fmt.Sprintf("with %d shards", k.Others)
		}
		return fmt.Sprintf("only %s the shards (%s). Each bucket of time is a partition of its own, so that no command gives all buckets of a key their shards. To spare the others, let the application write %s to a second table like this one, %s, and create this one %s; %s",
			one, others, keys, k.OwnName, this, k.Why)
	}
	return fmt.Sprintf("only %s the shards (%s). To spare the others, create the table with 'shards': '%d', and give %s its own; %s", one, others, k.Others, keys, k.Why)
}

func bucketText(b *advice.BucketColumn) string {
	return fmt.Sprintf("%s %s is the beginning of the %s that %s is in, in UTC: the application writes it, and names it in queries", b.Name, b.Type, b.Unit, b.Of)
}

func shardsText(n int) string {
	if n <= 1 {
		return "without shards"
	}
	return fmt.Sprintf("%d shards", n)
}

func (w *paper) profile(r *advice.Report) {
	w.head("columns")
	rows := [][]string{{"column", "type", "distinct", "null", "most frequent", ""}}
	for _, c := range r.Columns {
		distinct, top := distinctText(&c), ""
		if c.Top != "" || c.TopShare > 0 {
			top = fmt.Sprintf("%s %s", shorten(c.Top, 18), topShareText(&c))
		}
		typ := c.Type
		if c.Given {
			typ += " (given)"
		}
		nulls := ""
		if c.Nulls > 0 {
			nulls = count(c.Nulls)
		}
		rows = append(rows, []string{shorten(c.Name, 24), shorten(typ, 20), distinct, nulls, top, strings.Join(c.Notes, "; ")})
	}
	w.table(rows, "llrrll")
}

func (w *paper) risks(r *advice.Report) {
	w.head("antipatterns")
	if len(r.Antipatterns) == 0 {
		w.line("  none that the data and the queries show")
	}
	for _, a := range gathered(r.Antipatterns) {
		on := ""
		if len(a.Columns) > 0 {
			on = " (" + strings.Join(a.Columns, ", ") + ")"
		}
		w.item(fmt.Sprintf("%s%s, %s: %s", a.Name, on, severityText(&a), a.Evidence))
	}
	if len(r.HotKeys) > 0 {
		w.head("hot keys")
	}
	for _, h := range r.HotKeys {
		w.item(fmt.Sprintf("%s = %s: %s of the rows", strings.Join(h.Columns, ", "), shorten(h.Value, 60), hotShareText(&h)))
	}
}

// alike is how many antipatterns of one name, of columns that only tempt, a report shows one by one.
// If there are more, gathered joins the others into one.
const alike = 3

// gathered joins antipatterns of one name that concern columns which only tempt, if they are many:
// a table of forty columns of codes has forty of them. JSON has each with its evidence.
func gathered(list []advice.Antipattern) (out []advice.Antipattern) {
	count, at := make(map[string]int), make(map[string]int)
	for _, a := range list {
		if a.Severity == advice.Tempting {
			count[a.Name]++
		}
	}
	for _, a := range list {
		if a.Severity != advice.Tempting || count[a.Name] <= alike+1 {
			out = append(out, a)
			continue
		}
		if i, has := at[a.Name]; has {
			out[i].Columns = append(slices.Clone(out[i].Columns), a.Columns...)
			continue
		}
		count[a.Name+" shown"]++
		if count[a.Name+" shown"] > alike {
			at[a.Name] = len(out)
			a.Evidence = fmt.Sprintf("%d further columns; --json has the evidence of each", count[a.Name]-alike)
		}
		out = append(out, a)
	}
	return out
}

// severityText returns which keys an antipattern concerns, and how the advised one mends it.
func severityText(a *advice.Antipattern) string {
	switch {
	case a.Severity == advice.Whatever:
		return "whatever the key is"
	case a.Mended != "":
		return "in the key that is advised, " + a.Mended
	case a.Severity == advice.InTheKey:
		return "in the key that is advised, too"
	case a.Severity == advice.Asked:
		return "of a key that queries ask for"
	}
	return "of a key that tempts"
}

func (w *paper) designs(r *advice.Report) {
	if len(r.Candidates) == 0 {
		return
	}
	w.head("designs")
	if r.Verdict == nil {
		rows := [][]string{{"design", "partitions", "rows p50 / p99 / max", "largest", "could serve"}}
		for i, c := range r.Candidates {
			if i == 2*advised {
				break
			}
			rows = append(rows, []string{designText(c.Design, 44), partitionsText(&c), sizesText(&c), bytesOf(&c, bytesText)[2], shorten("WHERE "+c.Serves, 70)})
		}
		w.table(rows, "lrrrl")
		return
	}
	rows := [][]string{{"", "design", "rows lost", "unserved", "limits", "cost", "headroom", "partitions", "rows p50 / p99 / max"}}
	shown := []int{}
	for i := range r.Candidates {
		if i < advised || r.Candidates[i].Pareto && len(shown) < advised+5 {
			shown = append(shown, i)
		}
	}
	for _, i := range shown {
		c := &r.Candidates[i]
		mark := fmt.Sprint(i + 1)
		if c.Pareto {
			mark += "*"
		}
		limits := "kept"
		if len(c.Exceeded) > 0 {
			limits = "exceeded"
		}
		rows = append(rows, []string{mark, designText(c.Design, 56), lostText(c), share(c.Unserved + c.Filtered), limits, costText(&c.Cost), headroomText(c.Headroom), partitionsText(c), sizesText(c)})
	}
	w.table(rows, "rlrrlrrrr")
	w.line("  * no other is better in one thing and as good in the others")
	w.line("\n  Why the others lost:")
	for _, i := range shown {
		if c := &r.Candidates[i]; i > 0 {
			w.hang(fmt.Sprintf("  %3d  ", i+1), 7, c.Design+" "+c.WhyLost)
		}
	}
	w.line("\n  How the best serves each query:")
	for _, q := range r.Candidates[0].Queries {
		for _, given := range r.Queries {
			if given.Line == q.Line {
				why := ""
				if q.Why != "" {
					why = ": " + q.Why
				}
				w.hang(fmt.Sprintf("  line %d  ", q.Line), 9, given.Text)
				if q.By != "" {
					w.text(9, fmt.Sprintf("→ by the further %s; by this key: %s%s", q.By, q.Service, why))
				} else {
					w.text(9, fmt.Sprintf("→ %s%s; about %s", q.Service, why, rowsText(q.Rows)))
				}
				for _, x := range waysOf(r.Verdict, q.Line) {
					w.hang("         · ", 11, wayText(&x))
				}
				break
			}
		}
	}
	best := &r.Candidates[0]
	w.line("\n  Its partitions, p50 / p99 / max (of these data):")
	w.item(fmt.Sprintf("rows %s", sizesText(best)))
	sizes := bytesOf(best, bytesText)
	serialized := fmt.Sprintf("serialized %s / %s / %s", sizes[0], sizes[1], sizes[2])
	if r.Target.Sizes() {
		serialized += fmt.Sprintf(", the largest %s cells; ideal 10 MB, at most 100 MB and 2 billion cells in Cassandra", figure(best, "cells_max", best.CellsMax, countText))
	}
	w.item(serialized)
	if best.ProjectedWhy != "" {
		w.item(fmt.Sprintf("with %s the largest gets %s", best.ProjectedWhy, figure(best, "projected_bytes_max", best.ProjectedBytes, bytesText)))
	}
	if best.Heat.Splits != "" {
		w.item("were it too hot: " + best.Heat.Splits)
	}
	if g := r.Candidates[0].Growth; g.Why != "" {
		w.line("\n  Growth of its partitions:")
		w.text(4, sentence(g.Why))
		for _, h := range g.Hits {
			w.item(h.Text())
		}
	}
	if s := r.Candidates[0].Skew; s != nil {
		w.line("\n  On %d nodes with %d replicas the fullest node has %s times the mean; the ring alone makes %s.", s.Nodes, s.RF, ratio(s.MaxOverMean), ratio(s.Ring))
	}
	if c := r.Candidates[0].Cost; c.Currency != "" {
		w.line("\n  Cost: %s; list prices of %s, %s, on demand.", costDetail(&c), c.Date, c.Region)
	}
}

// designText shortens the key of a design and keeps its shards.
func designText(design string, most int) string {
	at := strings.LastIndex(design, " in ")
	if at < 0 || len([]rune(design)) <= most {
		return shorten(design, most)
	}
	shards := shorten(design[at:], most/2)
	return shorten(design[:at], most-len([]rune(shards))) + shards
}

// waysOf returns the ways to serve a query that the table's key does not serve.
func waysOf(v *advice.Verdict, line int) []advice.Way {
	for i := range v.Ways {
		if v.Ways[i].Line == line {
			return v.Ways[i].Ways
		}
	}
	return nil
}

func wayText(w *advice.Way) string {
	if w.Taken {
		return w.Text() + " (taken)"
	}
	return w.Text()
}

// rowsText formats an estimated number of rows.
func rowsText(x float64) string {
	switch {
	case x < 1.05:
		return "1 row"
	case x < 10:
		return fmt.Sprintf("%.1f rows", x)
	}
	return count(int64(x+0.5)) + " rows"
}

func sizesText(c *advice.Candidate) string {
	t := rowsOf(c)
	return strings.Join(t[:], " / ")
}

func headroomText(x float64) string {
	if x >= 10 {
		return "10× or more"
	}
	return fmt.Sprintf("%.1f×", x)
}

// costText formats a cost in a word: as money if there is a currency.
func costText(c *advice.Cost) string {
	switch {
	case c.Currency != "" && !c.Rated:
		return fmt.Sprintf("(%s)", ratio(c.WriteUnits+c.ReadUnits))
	case c.Currency != "":
		return fmt.Sprintf("%s %s/month", ratio(c.Month), c.Currency)
	case !c.Rated:
		return fmt.Sprintf("(%s)", ratio(c.CPU*1e6))
	}
	return fmt.Sprintf("%s cores", ratio(c.CPU))
}

func costDetail(c *advice.Cost) string {
	t := fmt.Sprintf("%s WCU and %s RCU a second, %s %s a month, and %s for what the rows take now", ratio(c.WriteUnits), ratio(c.ReadUnits), ratio(c.Month), c.Currency, ratio(c.Storage))
	if !c.Rated {
		t += " (the queries say no rates: each counts as one a second)"
	}
	return t
}

// table aligns columns: align has an l (left) or an r (right) for each.
func (w *paper) table(rows [][]string, align string) {
	widths := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if align[i] == 'r' {
				cell = pad + cell
			} else {
				cell += pad
			}
			b.WriteString("  " + cell)
		}
		w.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// shorten cuts a text to that many characters. It shows each control character as a dot, because it
// would move the cursor.
func shorten(s string, most int) string {
	r := []rune(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '·'
		}
		return c
	}, s))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most-1]) + "…"
}

// bytesText formats a size in bytes.
func bytesText(b float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if b >= u.size {
			return fmt.Sprintf("%.1f %s", b/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f bytes", b)
}
