// SPDX-License-Identifier: Apache-2.0

package nodetool

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Output holds the contents of the tools' output.
type Output struct {
	Rankings   []Ranking
	Histograms []Histogram
	Partitions []Partition // of SSTables: each partition of each file
}

// Ranking is a table of toppartitions.
type Ranking struct {
	Title string // "Frequency of reads by partition"
	Unit  string // "Count", "Bytes", "Tombstones", …
	Rows  []Ranked
}

// Ranked is a partition in a ranking.
type Ranked struct {
	Table string // keyspace.table
	Key   string
	Count float64
	Error float64 // Count may be too high by this
}

// Histogram is the output of tablehistograms for a table.
type Histogram struct {
	Table       string // keyspace.table
	Percentiles []Percentile
}

// Percentile is a line of a histogram. A value that the node has not recorded is NaN.
type Percentile struct {
	Name                    string // 50%, …, Min, Max
	ReadMicros, WriteMicros float64
	SSTables                float64 // that a read examines
	Bytes                   float64 // of a partition
	Cells                   float64 // of a partition
}

// Partition is a partition in an SSTable.
type Partition struct {
	Table                          string // keyspace.table
	Key                            string
	Bytes, Rows, Cells, Tombstones int64
	Detailed                       bool // Rows, Cells and Tombstones are known
}

// Commands lists the commands that print the forms that Parse reads.
const Commands = "nodetool toppartitions KEYSPACE TABLE 10000; nodetool tablehistograms KEYSPACE TABLE; sstablepartitions -m -t 1MiB DATA_DIRECTORY/KEYSPACE/TABLE-*"

// Parse reads the output of any of the tools.
func Parse(text []byte) (*Output, error) {
	p := &parser{lines: strings.Split(strings.ReplaceAll(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), "\r\n", "\n"), "\n")}
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		switch {
		case strings.TrimSpace(line) == "":
			p.at++
		case strings.Contains(line, "unable to calculate"): // of a table without files; its values are NaN
			p.at++
		case strings.HasPrefix(line, "key,keyBinary,"):
			if err := p.csv(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(line, "Processing "):
			if err := p.sstable(); err != nil {
				return nil, err
			}
		case strings.HasSuffix(line, " histograms"):
			if err := p.histogram(); err != nil {
				return nil, err
			}
		case !strings.HasPrefix(line, " ") && strings.HasSuffix(line, ":"):
			if err := p.ranking(); err != nil {
				return nil, err
			}
		default:
			return nil, p.wrong(p.at, "is no output of these tools: %.60q", line)
		}
	}
	if !p.known {
		return nil, p.wrong(0, "has no output of these tools")
	}
	return &p.out, nil
}

type parser struct {
	lines []string
	at    int
	known bool
	out   Output
}

func (p *parser) wrong(at int, format string, args ...any) error {
	return fmt.Errorf("line %d: %s; wanted is what one of these prints: %s", at+1, fmt.Sprintf(format, args...), Commands)
}

// next returns the current line and moves to the next; false at the end.
func (p *parser) next() (string, bool) {
	if p.at >= len(p.lines) {
		return "", false
	}
	p.at++
	return p.lines[p.at-1], true
}

// ranking reads a title and the table below it.
func (p *parser) ranking() error {
	title, _ := p.next()
	r := Ranking{Title: strings.TrimSuffix(title, ":")}
	p.known = true
	head, ok := p.next()
	if !ok || strings.TrimSpace(head) == "" {
		return p.wrong(p.at-1, "a table is missing below %.60q", title)
	}
	if strings.Contains(head, "Nothing recorded") {
		p.out.Rankings = append(p.out.Rankings, r)
		return nil
	}
	columns := strings.Fields(head)
	if len(columns) < 2 || columns[0] != "Table" && columns[0] != "Query" {
		return p.wrong(p.at-1, "is no head of a table: %.60q", head)
	}
	if columns[0] == "Query" {
		for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], " ") {
			p.at++
		}
		return nil // a ranking of statements, not of partitions
	}
	if len(columns) < 3 || columns[1] != "Partition" {
		return p.wrong(p.at-1, "is no head of a table: %.60q", head)
	}
	numbers := columns[2:]
	r.Unit = numbers[0]
	for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], " ") && strings.TrimSpace(p.lines[p.at]) != "" {
		line := strings.TrimSpace(p.lines[p.at])
		table, rest, ok := strings.Cut(line, " ")
		values := make([]float64, len(numbers))
		for i := len(numbers) - 1; ok && i >= 0; i-- {
			rest = strings.TrimRight(rest, " ")
			cut := strings.LastIndexByte(rest, ' ')
			if ok = cut >= 0; !ok {
				break
			}
			v, err := strconv.ParseFloat(rest[cut+1:], 64)
			ok = err == nil
			values[i], rest = v, rest[:cut]
		}
		if !ok {
			return p.wrong(p.at, "is no row of a table of %s: %.60q", all(columns), line)
		}
		row := Ranked{Table: table, Key: strings.TrimSpace(rest), Count: values[0]}
		if len(values) > 1 {
			row.Error = values[1]
		}
		r.Rows = append(r.Rows, row)
		p.at++
	}
	p.out.Rankings = append(p.out.Rankings, r)
	return nil
}

func all(columns []string) string { return strings.Join(columns, ", ") }

// histogram reads the table of tablehistograms.
func (p *parser) histogram() error {
	line, _ := p.next()
	name := strings.TrimSuffix(line, " histograms")
	h := Histogram{Table: strings.Replace(name, "/", ".", 1)}
	p.known = true
	if head, ok := p.next(); !ok || !strings.HasPrefix(head, "Percentile") {
		return p.wrong(p.at-1, "is no head of a histogram: %.60q", head)
	}
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) != "" {
		fields := strings.Fields(p.lines[p.at])
		if fields[0] == "(micros)" {
			p.at++
			continue
		}
		if len(fields) != 6 {
			break
		}
		var v [5]float64
		for i, f := range fields[1:] {
			n, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return p.wrong(p.at, "%.40q is no number", f)
			}
			v[i] = n
		}
		h.Percentiles = append(h.Percentiles, Percentile{fields[0], v[0], v[1], v[2], v[3], v[4]})
		p.at++
	}
	if len(h.Percentiles) == 0 {
		return p.wrong(p.at-1, "a histogram without lines")
	}
	p.out.Histograms = append(p.out.Histograms, h)
	return nil
}

var (
	processing = regexp.MustCompile(`^Processing ([^ ]+?)-[0-9a-f]{32}(?:\.[^ ]+)? #`)
	partition  = regexp.MustCompile(`^  Partition: '(.*)' \([0-9a-f]*\) .*size: ([0-9.,]+ [KMGTP]?i?B)(?:, rows: (\d+), cells: (\d+), tombstones: (\d+))?`)
)

// sstable reads the output of sstablepartitions for people.
func (p *parser) sstable() error {
	line, _ := p.next()
	m := processing.FindStringSubmatch(line)
	if m == nil {
		return p.wrong(p.at-1, "names no table: %.80q", line)
	}
	p.known = true
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		if strings.HasPrefix(line, "Summary of ") {
			p.at++
			for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], " ") {
				p.at++
			}
			return nil
		}
		if strings.HasPrefix(line, "Processing ") {
			return nil
		}
		p.at++
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := partition.FindStringSubmatch(line)
		if f == nil {
			if strings.HasPrefix(line, "  ") {
				continue // rows that a newer release prints, too
			}
			return p.wrong(p.at-1, "is no partition: %.80q", line)
		}
		size, err := bytesOf(f[2])
		if err != nil {
			return p.wrong(p.at-1, "%v", err)
		}
		one := Partition{Table: m[1], Key: f[1], Bytes: size, Detailed: f[3] != ""}
		one.Rows, _ = strconv.ParseInt(f[3], 10, 64) // the expression matches digits, or nothing
		one.Cells, _ = strconv.ParseInt(f[4], 10, 64)
		one.Tombstones, _ = strconv.ParseInt(f[5], 10, 64)
		p.out.Partitions = append(p.out.Partitions, one)
	}
	return nil
}

// bytesOf reads a size such as 1.944 MiB.
func bytesOf(text string) (int64, error) {
	n, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no size", text)
	}
	power := slices.Index([]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}, unit)
	if v *= math.Pow(1024, float64(power)); power < 0 || !(v < 1<<62) {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return int64(math.Round(v)), nil
}

// record matches a line of sstablepartitions -m. The form is not quite CSV: the key stands in
// quotes without escapes. A key with spaces is put in quotes once more, and its quotes are doubled.
var record = regexp.MustCompile(`^"(.*)",[0-9a-f]*,(?:true|false),\d+,(\d+),(.*)$`)

// beforeRest lists the columns that record matches. The others follow.
var beforeRest = []string{"key", "keyBinary", "live", "offset", "size"}

// csv reads the output of sstablepartitions -m.
func (p *parser) csv() error {
	line, _ := p.next()
	head := strings.Split(line, ",")
	p.known = true
	if len(head) <= len(beforeRest) || !slices.Equal(head[:len(beforeRest)], beforeRest) {
		return p.wrong(p.at-1, "does not begin with %s", all(beforeRest))
	}
	head = head[len(beforeRest):]
	place := func(name string) int { return slices.Index(head, name) }
	directory, keyspace, table := place("directory"), place("keyspace"), place("table")
	rows, cells, tombstones := place("rowCount"), place("cellCount"), place("tombstoneCount")
	if min(keyspace, table) < 0 || directory > min(keyspace, table) {
		return p.wrong(p.at-1, "has no columns keyspace and table")
	}
	for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], `"`) {
		m := record.FindStringSubmatch(p.lines[p.at])
		if m == nil {
			return p.wrong(p.at, "is no partition: %.80q", p.lines[p.at])
		}
		rest := strings.Split(m[3], ",")
		more := len(rest) - len(head) // commas of the directory
		if more < 0 {
			return p.wrong(p.at, "has %d fields, and not %d", len(rest)+len(beforeRest), len(head)+len(beforeRest))
		}
		one := Partition{Table: rest[keyspace+more] + "." + rest[table+more], Key: m[1]}
		if k := one.Key; len(k) > 2 && k[0] == '"' && k[len(k)-1] == '"' && strings.Contains(k, " ") {
			one.Key = strings.ReplaceAll(k[1:len(k)-1], `""`, `"`)
		}
		var err error
		if one.Bytes, err = strconv.ParseInt(m[2], 10, 64); err != nil {
			return p.wrong(p.at, "%.40q is no size", m[2])
		}
		if tombstones >= 0 && tombstones < directory && rest[tombstones] != "" {
			one.Detailed = true
			for _, f := range []struct {
				at int
				to *int64
			}{{rows, &one.Rows}, {cells, &one.Cells}, {tombstones, &one.Tombstones}} {
				if f.at < 0 || f.at > directory {
					continue
				}
				if *f.to, err = strconv.ParseInt(rest[f.at], 10, 64); err != nil {
					return p.wrong(p.at, "%.40q is no number", rest[f.at])
				}
			}
		}
		p.out.Partitions = append(p.out.Partitions, one)
		p.at++
	}
	return nil
}

// Of returns the output about one table, keyspace.table.
func (o *Output) Of(table string) *Output {
	out := &Output{}
	for _, r := range o.Rankings {
		own := Ranking{Title: r.Title, Unit: r.Unit}
		for _, row := range r.Rows {
			if row.Table == table {
				own.Rows = append(own.Rows, row)
			}
		}
		if len(own.Rows) > 0 || len(r.Rows) == 0 {
			out.Rankings = append(out.Rankings, own)
		}
	}
	for _, h := range o.Histograms {
		if h.Table == table {
			out.Histograms = append(out.Histograms, h)
		}
	}
	for _, p := range o.Partitions {
		if p.Table == table {
			out.Partitions = append(out.Partitions, p)
		}
	}
	return out
}

// Tables returns the tables in the output, in their order.
func (o *Output) Tables() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range o.Rankings {
		for _, row := range r.Rows {
			add(row.Table)
		}
	}
	for _, h := range o.Histograms {
		add(h.Table)
	}
	for _, p := range o.Partitions {
		add(p.Table)
	}
	return names
}

// Sum adds up partitions by their keys, because a partition may be in several SSTables. The result
// has the largest first.
func Sum(parts []Partition) []Partition {
	at := map[string]int{}
	var out []Partition
	for _, p := range parts {
		i, ok := at[p.Table+"\x00"+p.Key]
		if !ok {
			at[p.Table+"\x00"+p.Key] = len(out)
			out = append(out, p)
			continue
		}
		o := &out[i]
		o.Bytes += p.Bytes
		o.Rows += p.Rows
		o.Cells += p.Cells
		o.Tombstones += p.Tombstones
		o.Detailed = o.Detailed && p.Detailed
	}
	slices.SortStableFunc(out, func(a, b Partition) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return out
}
