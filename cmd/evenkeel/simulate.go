package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/report"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// simulateCmd is `evenkeel simulate`.
type simulateCmd struct {
	Data string `arg:"" help:"Rows: CSV, JSON Lines or Parquet; may be packed by gzip or zstd; - is standard input; dynamodb://us-east-1/table, or dynamodb://host:port/table, is a live table."`

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
	JSON         bool              `name:"json" help:"Print the report as JSON: keys, sizes, max_over_mean, …"`
	HTML         string            `name:"html" placeholder:"FILE" help:"Write the report as one HTML file, too."`

	tableFlags
	inputFlags
	options simulation.Options
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
	switch {
	case s.Nodes != 0:
		o.Ring = &simulation.Ring{Nodes: s.Nodes, VNodes: s.VNodes, RF: s.RF, Seed: s.Seed}
	case s.HTML != "" && o.Partitioner.Tokens():
		o.Ring = &simulation.Ring{Nodes: advice.Nodes, VNodes: advice.VNodes, RF: advice.RF, Seed: s.Seed} // as advice has it
	}
	if s.Within >= 0 && s.Partitions > simulation.MaxWithinPartitions {
		return fmt.Errorf("--within is for up to %d partitions", simulation.MaxWithinPartitions)
	}
	if err := o.Validate(); err != nil {
		return err
	}
	if err := s.tableFlags.check(livedynamo.Is(s.Data)); err != nil {
		return err
	}
	if err := s.inputFlags.check(); err != nil {
		return err
	}
	s.options = o
	return nil
}

// Run reads the rows, counts them and reports.
func (s *simulateCmd) Run(std *stdio) error {
	r, err := s.simulate(std)
	if err != nil {
		return failed("simulate", err)
	}
	if s.HTML != "" {
		if err := writeFile(s.HTML, func(w io.Writer) error { return report.HTML(w, r) }); err != nil {
			return fmt.Errorf("simulate: --html: %w", err)
		}
	}
	if s.Nodes == 0 { // nodes are the page's alone
		r.Ring = nil
		for i := range r.Keys {
			r.Keys[i].Nodes = nil
		}
	}
	if s.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(r)
	} else {
		err = report.Text(std.out, r)
	}
	if err == nil && r.Partial {
		err = interrupted("simulate", r.Rows)
	}
	return err
}

// interrupted is the end of a command that Ctrl-C has ended, and that printed what it had.
func interrupted(command string, rows int64) error {
	return &coded{fmt.Errorf("%s: the result is partial: interrupted after %s rows", command, capacity.Number(float64(rows))), partialResult}
}

func (s *simulateCmd) simulate(std *stdio) (*simulation.Report, error) {
	// The first Ctrl-C leaves what was read by then, the second one ends it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	src, done, err := s.open(ctx, std)
	if err != nil {
		return nil, err
	}
	defer done()
	s.options.Detail = s.HTML != ""
	sim, err := simulation.New(s.options)
	if err != nil {
		return nil, err
	}
	columns := s.options.Columns()
	wanted := columns
	if s.options.Detail { // partitions have sizes in bytes, for which all columns count
		for _, c := range src.Columns() {
			if !slices.Contains(wanted, c.Name) {
				wanted = append(wanted, c.Name)
			}
		}
	}
	p := newProgress(std.err, src)
	defer p.end()
	// The simulation is for one goroutine.
	scanned, err := src.Scan(ctx, rows.ScanOptions{Workers: 1, Columns: wanted, MaxBadRows: s.MaxBadRows, Progress: p.rows},
		simulated(sim, src, columns))
	switch {
	case err != nil:
		return nil, err
	case scanned.Rows == 0 && scanned.Bad > 0:
		return nil, fmt.Errorf("%s: all %d rows are bad", src.Name(), scanned.Bad)
	case scanned.Rows == 0 && scanned.Partial:
		return nil, fmt.Errorf("%s: interrupted before the first row was read", src.Name())
	case scanned.Rows == 0:
		return nil, fmt.Errorf("%s: has no rows", src.Name())
	}
	p.end()
	passedOver(std.err, scanned.Shown(), scanned.Bad)
	r := sim.Report()
	r.Data, r.BadRows, r.Partial = src.Name(), scanned.Bad, scanned.Partial
	return r, nil
}

// open opens the data.
func (s *simulateCmd) open(ctx context.Context, std *stdio) (*rows.Source, func(), error) {
	if livedynamo.Is(s.Data) {
		return s.openDynamoDB(ctx, std.err, s.Data, nil)
	}
	src, err := rows.Open(s.Data, s.inputFlags.options(ctx, false))
	if err != nil {
		return nil, nil, err
	}
	return src, src.Close, nil
}

// simulated adds the rows of batches to a simulation.
func simulated(sim *simulation.Simulation, src *rows.Source, columns []string) func(int, *rows.Batch) error {
	types := make([]*value.Type, len(columns))
	for _, c := range src.Columns() {
		if i := slices.Index(columns, c.Name); i >= 0 {
			types[i] = c.Type
		}
	}
	values := make([]string, len(columns))
	var text []byte
	return func(_ int, b *rows.Batch) error {
	row:
		for i := range b.N {
			for c := range columns {
				v := &b.Columns[c]
				switch {
				case v.Null(i) && !(v.Kind == rows.Text && v.Spans[i].Empty()):
					b.Drop(i, fmt.Sprintf("column %q is null", columns[c]))
					continue row
				case v.Kind == rows.Text && v.Spans[i].Nested():
					b.Drop(i, fmt.Sprintf("column %q is a JSON object or array, which is no value of a key", columns[c]))
					continue row
				}
				text = v.AppendText(text[:0], i, types[c])
				values[c] = string(text)
			}
			var bad *simulation.BadValue
			if err := sim.AddSized(values, rowBytes(b, i)); errors.As(err, &bad) {
				b.Drop(i, bad.Error())
			} else if err != nil {
				return err
			}
		}
		return nil
	}
}

// rowBytes is about what Cassandra stores of a row whose values are texts.
func rowBytes(b *rows.Batch, i int) (n int64) {
	const row, cell = 10, 2 // flags, timestamp and lengths of a row; flags and length of a cell
	n = row
	for c := range b.Columns {
		v := &b.Columns[c]
		switch {
		case v.Null(i):
		case v.Kind <= rows.Binary:
			n += cell + int64(v.Spans[i].Len())
		default:
			n += cell + 8
		}
	}
	return n
}
