package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/report"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// simulateCmd is `evenkeel simulate`.
type simulateCmd struct {
	Data string `arg:"" help:"Rows: CSV with a header, or JSON Lines; may be packed by gzip or zstd; - is standard input."`

	Key          []string          `required:"" sep:"none" placeholder:"KEY" help:"A partition key to try, again for more: 'code', 'code,user', 'code,salt(user,200)', 'day,shard(title,200)', 'day,code_points(title,200)'."`
	Partitions   int               `default:"4" help:"How many partitions (${default})."`
	Partitioner  string            `enum:"murmur3,random,md5-mod,java-mod" default:"murmur3" help:"Of ${enum} (${default}). The first two are Cassandra's: a partition is one of equal ranges of tokens. The others hash text modulo the partitions."`
	Type         map[string]string `placeholder:"COL=TYPE" mapsep:"none" help:"CQL type of a column, for murmur3 and random; text by default. Again for more."`
	Nodes        int               `placeholder:"N" help:"Count rows of nodes, too, on a ring of so many."`
	VNodes       int               `name:"vnodes" default:"16" help:"Tokens of each node (${default})."`
	RF           int               `name:"rf" default:"3" help:"Replicas of each row (${default})."`
	Seed         uint64            `default:"1" help:"Of the nodes' tokens, which are random (${default})."`
	CompareSalts []int             `placeholder:"N,M" help:"Say how many rows change place when the salts of the keys are N, then M."`
	Within       int64             `default:"-1" placeholder:"ROWS" help:"Judge a bound of the difference between the fullest and the emptiest partition, and say how often an ideal key keeps it."`
	Format       string            `enum:"auto,csv,jsonl" default:"auto" help:"Of ${enum} (${default}: by the file's name, or its first character)."`
	Delimiter    string            `placeholder:"CHAR" help:"Between CSV fields: a character, or tab. A comma by default, a tab in *.tsv."`
	MaxBadRows   int64             `default:"0" help:"How many bad rows to pass over before giving up (${default})."`
	JSON         bool              `name:"json" help:"Print the report as JSON: keys, sizes, max_over_mean, …"`
	HTML         string            `name:"html" placeholder:"FILE" help:"Write the report as one HTML file, too."`

	options   simulation.Options
	delimiter rune
}

// Validate reads what can be judged without the data.
func (s *simulateCmd) Validate() error {
	if len(s.Key) == 0 || s.Data == "" {
		return nil // kong says what is missing
	}
	o := simulation.Options{
		Partitioner: simulation.Partitioner(s.Partitioner), Partitions: s.Partitions, CompareSalts: s.CompareSalts, Within: s.Within,
		Types: make(map[string]*value.Type),
	}
	for _, text := range s.Key {
		e, err := keys.Parse(text)
		if err != nil {
			return err
		}
		o.Keys = append(o.Keys, simulation.Key{Text: strings.TrimSpace(text), Expr: e})
	}
	for column, name := range s.Type {
		t := value.Named(strings.ToLower(name))
		if t == nil {
			return withHint(fmt.Errorf("--type %s=%s: there is no such type", column, name), "the simple CQL types: text, int, bigint, uuid, timeuuid, timestamp, date, …")
		}
		o.Types[column] = t
	}
	if s.Nodes != 0 {
		o.Ring = &simulation.Ring{Nodes: s.Nodes, VNodes: s.VNodes, RF: s.RF, Seed: s.Seed}
	}
	if s.Within >= 0 && s.Partitions > simulation.MaxWithinPartitions {
		return fmt.Errorf("--within is for up to %d partitions", simulation.MaxWithinPartitions)
	}
	if err := o.Validate(); err != nil {
		return err
	}
	switch d := s.Delimiter; {
	case d == "":
	case d == "tab", d == `\t`:
		s.delimiter = '\t'
	case utf8.RuneCountInString(d) == 1 && d != `"` && d != "\n" && d != "\r":
		s.delimiter, _ = utf8.DecodeRuneInString(d)
	default:
		return fmt.Errorf("--delimiter %q: one character is wanted, or tab", d)
	}
	if s.MaxBadRows < 0 {
		return fmt.Errorf("--max-bad-rows: %d is negative", s.MaxBadRows)
	}
	s.options = o
	return nil
}

// Run reads the rows, counts them and reports.
func (s *simulateCmd) Run(std *stdio) error {
	r, err := s.simulate(std)
	if err != nil {
		err = fmt.Errorf("simulate: %w", err)
		if hint := rows.Hint(err); hint != "" {
			return withHint(err, "%s", hint)
		}
		return err
	}
	if s.HTML != "" {
		if err := writeHTML(s.HTML, r); err != nil {
			return fmt.Errorf("simulate: --html: %w", err)
		}
	}
	if s.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	}
	return report.Text(std.out, r)
}

func (s *simulateCmd) simulate(std *stdio) (*simulation.Report, error) {
	format := rows.Format(s.Format)
	if s.Format == "auto" {
		format = rows.Auto
	}
	src, err := rows.Open(s.Data, rows.Options{Format: format, Delimiter: s.delimiter})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	sim, err := simulation.New(s.options)
	if err != nil {
		return nil, err
	}
	if err := src.Select(s.options.Columns()); err != nil {
		return nil, err
	}
	p := newProgress(std.err, src)
	defer p.end()
	var bad, good int64
	for {
		values, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var cannot *rows.BadRow
		if err == nil {
			var v *simulation.BadValue
			if err = sim.Add(values); errors.As(err, &v) {
				err = &rows.BadRow{Name: src.Name(), Line: src.Line(), Reason: v.Error()}
			}
		}
		switch {
		case err == nil:
			good++
		case errors.As(err, &cannot):
			if bad++; bad > s.MaxBadRows {
				if s.MaxBadRows > 0 {
					err = fmt.Errorf("more than %d bad rows: %w", s.MaxBadRows, err)
				}
				return nil, err
			}
		default:
			return nil, err
		}
		p.row(good + bad)
	}
	if good == 0 {
		if bad > 0 {
			return nil, fmt.Errorf("%s: all %d rows are bad", src.Name(), bad)
		}
		return nil, fmt.Errorf("%s: has no rows", src.Name())
	}
	r := sim.Report()
	r.Data, r.BadRows = src.Name(), bad
	return r, nil
}

func writeHTML(name string, r *simulation.Report) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := report.HTML(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
