// SPDX-License-Identifier: Apache-2.0

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
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/report"
	"github.com/evenkeel/evenkeel/workbench/rows"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// simulateCmd holds the arguments of `evenkeel simulate`.
type simulateCmd struct {
	Data string `arg:"" help:"Rows: CSV, JSON Lines or Parquet; may be compressed with gzip or zstd; - is standard input; dynamodb://us-east-1/table, or dynamodb://host:port/table, is a live table."`

	Key          []string          `sep:"none" placeholder:"KEY" help:"A partition key to try; repeat it for more: 'code', 'code,user', 'code,salt(user,200)', 'day,shard(title,200)', 'day,code_points(title,200)', 'server,hour(time)', 'day,random(200)', 'server,rollover(100000)'."`
	Partitions   []int             `default:"4" placeholder:"N,…" help:"How many partitions (${default}); if there are several numbers, the first is shown in full."`
	Partitioner  string            `enum:"murmur3,random,byte-ordered,identity,md5-mod,java-mod" default:"murmur3" help:"One of ${enum} (${default}). The first three are Cassandra's: a partition is one of equal ranges of tokens. With identity a number or a time is its own token. The others hash text modulo the number of partitions."`
	Type         map[string]string `placeholder:"COL=TYPE" mapsep:"none" help:"CQL type of a column, for Cassandra's partitioners; text by default. Repeat it for more columns."`
	Nodes        int               `placeholder:"N" help:"Also show the rows of nodes, on a ring of this many."`
	VNodes       int               `name:"vnodes" default:"16" help:"Tokens of each node (${default})."`
	RF           int               `name:"rf" default:"3" help:"Replicas of each row (${default})."`
	Seed         uint64            `default:"1" help:"Seed of the nodes' random tokens, and of random(…) (${default})."`
	Limit        limitFlag         `placeholder:"rows=N,bytes=N" help:"Say which values of a key have more than this."`
	Uniformity   bool              `help:"Judge each attribute as a partition key, Good or Bad, as DynamoDB's documentation does."`
	CompareSalts []int             `placeholder:"N,M" help:"Say how many rows change place when the salts of the keys are N, then M."`
	Within       int64             `default:"-1" placeholder:"ROWS" help:"Judge a limit for the difference between the fullest and the emptiest partition, and say how often an ideal key stays within it."`
	JSON         bool              `name:"json" help:"Print the report as JSON: keys, sizes, max_over_mean, …"`
	HTML         string            `name:"html" placeholder:"FILE" help:"Write the report as one HTML file, too."`

	dateFlags
	tableFlags
	inputFlags
	options simulation.Options
}

// These are the defaults of --vnodes and --rf.
const (
	defaultVNodes = 16
	defaultRF     = 3
)

// Validate checks the arguments that can be checked without the data.
func (s *simulateCmd) Validate() error {
	if s.Data == "" {
		return nil // kong reports what is missing
	}
	if len(s.Key) == 0 && !s.Uniformity {
		return withHint(errors.New("missing flags: --key=KEY,..."), "--key names a partition key to try; --uniformity judges each attribute")
	}
	limit, err := s.Limit.limit()
	if err != nil {
		return err
	}
	o := simulation.Options{
		Partitioner: simulation.Partitioner(s.Partitioner), CompareSalts: s.CompareSalts, Within: s.Within,
		Types: make(map[string]*value.Type), DateOrders: make(map[string]datetime.Order), Limit: limit, Seed: s.Seed,
	}
	if len(s.Partitions) > 0 {
		o.Partitions, o.Sweep = s.Partitions[0], s.Partitions[1:]
	}
	if err := s.dateFlags.check(); err != nil {
		return err
	}
	for column, first := range s.monthFirst() {
		o.DateOrders[column] = datetime.OrderOf(first)
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
	case s.Nodes == 0 && (s.VNodes != defaultVNodes || s.RF != defaultRF):
		return withHint(errors.New("--vnodes and --rf describe nodes, and there are no nodes"), "--nodes N says how many nodes there are")
	case s.Nodes != 0:
		o.Ring = &simulation.Ring{Nodes: s.Nodes, VNodes: s.VNodes, RF: s.RF, Seed: s.Seed}
	case s.HTML != "" && o.Partitioner.Tokens():
		o.Ring = &simulation.Ring{Nodes: advice.Nodes, VNodes: advice.VNodes, RF: advice.RF, Seed: s.Seed} // the ring that advise uses
	}
	if s.Within >= 0 && o.Partitions > simulation.MaxWithinPartitions {
		return fmt.Errorf("--within is for up to %d partitions", simulation.MaxWithinPartitions)
	}
	if len(s.Key) > 0 || o.Partitions < 1 {
		if err := o.Validate(); err != nil {
			return err
		}
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

// Run reads and counts the rows, and prints the report.
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
	if !s.Uniformity {
		r.Uniformity = nil
	}
	if s.Nodes == 0 { // nodes are for the page only
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

// interrupted returns the error of a command that Ctrl-C ended after it printed a partial report.
func interrupted(command string, rows int64) error {
	return &coded{fmt.Errorf("%s: the result is partial: interrupted after %s rows", command, capacity.Number(float64(rows))), partialResult}
}

func (s *simulateCmd) simulate(std *stdio) (*simulation.Report, error) {
	// The first Ctrl-C stops the reading and reports on the rows read so far. The second one ends
	// the program.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	src, done, err := s.open(ctx, std)
	if err != nil {
		return nil, err
	}
	defer done()
	s.options.Detail = s.HTML != ""
	if err := s.judgeAttributes(std, src); err != nil {
		return nil, err
	}
	r, err := s.count(ctx, std, src)
	var either *simulation.Ambiguous
	if errors.As(err, &either) {
		// Dates elsewhere in the column may settle the order, so all of the data is read.
		if err := s.ordered(ctx, std, src, either); err != nil {
			return nil, err
		}
		r, err = s.count(ctx, std, src)
	}
	return r, err
}

// judgeAttributes makes the columns attributes to judge, if they are asked for, or for the page.
func (s *simulateCmd) judgeAttributes(std *stdio, src *rows.Source) error {
	columns := src.Columns()
	many := len(columns)+len(s.options.Keys) > simulation.MaxCounted
	switch {
	case !s.Uniformity && s.HTML == "":
		return nil
	case many && s.Uniformity:
		return withHint(fmt.Errorf("%s: has %s columns, and --uniformity judges up to %s, with the keys", src.Name(), capacity.Number(float64(len(columns))), capacity.Number(simulation.MaxCounted)),
			"name those that tempt with --key, without --uniformity")
	case many:
		fmt.Fprintf(std.err, "evenkeel: the page does not judge the %s columns as partition keys; it judges up to %s, together with the keys\n", capacity.Number(float64(len(columns))), capacity.Number(simulation.MaxCounted))
		return nil
	}
	s.options.Attributes = nil
	for _, c := range columns {
		s.options.Attributes = append(s.options.Attributes, c.Name)
	}
	return nil
}

// count reads the rows and counts them.
func (s *simulateCmd) count(ctx context.Context, std *stdio, src *rows.Source) (*simulation.Report, error) {
	sim, err := simulation.New(s.options)
	if err != nil {
		return nil, err
	}
	columns := s.options.Columns()
	wanted := slices.Clone(columns) // values are measured in bytes, which takes all columns
	for _, c := range src.Columns() {
		if !slices.Contains(wanted, c.Name) {
			wanted = append(wanted, c.Name)
		}
	}
	p := newProgress(std.err, src)
	defer p.end()
	// A simulation is not safe for concurrent use.
	scanned, err := src.Scan(ctx, rows.ScanOptions{Workers: 1, Columns: wanted, MaxBadRows: s.MaxBadRows, Progress: p.rows},
		simulated(sim, src, wanted, len(columns), s.options.KeyColumns()))
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

// ordered finds out whether the day or the month comes first in the dates of the key columns. It
// uses the dates that can be read in only one way.
func (s *simulateCmd) ordered(ctx context.Context, std *stdio, src *rows.Source, either *simulation.Ambiguous) error {
	columns := s.options.TimeColumns()
	if !slices.Contains(columns, either.Column) {
		columns = append(columns, either.Column)
	}
	tallies := make([]datetime.Tally, len(columns))
	var parser datetime.Parser
	p := newProgress(std.err, src)
	defer p.end()
	scanned, err := src.Scan(ctx, rows.ScanOptions{Workers: 1, Columns: columns, MaxBadRows: s.MaxBadRows, Progress: p.rows}, func(_ int, b *rows.Batch) error {
		for c := range columns {
			v := &b.Columns[c]
			for i := 0; i < b.N && v.Kind == rows.Text; i++ {
				if at, ok := parser.Parse(v.Bytes(i)); ok {
					tallies[c].Add(&at)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for c, column := range columns {
		if _, given := s.options.DateOrders[column]; given {
			continue
		}
		order, doubt, _ := tallies[c].Order(0)
		if doubt != datetime.Certain {
			why := "no other date tells"
			if doubt == datetime.Mixed {
				why = "other dates have the day first, and others the month"
			}
			if scanned.Partial {
				why += " of those that were read"
			}
			return withHint(fmt.Errorf("%s: %w: %s", src.Name(), either, why), "--date-order %s=dmy, or --date-order %s=mdy, says", column, column)
		}
		s.options.DateOrders[column] = order
	}
	return nil
}

// open opens the data.
func (s *simulateCmd) open(ctx context.Context, std *stdio) (*rows.Source, func(), error) {
	if livedynamo.Is(s.Data) {
		return s.openDynamoDB(ctx, std.err, s.Data, nil)
	}
	src, err := rows.Open(s.Data, s.inputFlags.options(ctx, true))
	if err != nil {
		return nil, nil, err
	}
	return src, src.Close, nil
}

// simulated returns a function that adds the rows of batches to a simulation. all are the columns of
// batches. The simulation takes the first counted columns. The first ofKeys of these belong to keys.
func simulated(sim *simulation.Simulation, src *rows.Source, all []string, counted, ofKeys int) func(int, *rows.Batch) error {
	types := make([]*value.Type, len(all))
	for _, c := range src.Columns() {
		if i := slices.Index(all, c.Name); i >= 0 {
			types[i] = c.Type
		}
	}
	columns := all[:counted]
	row := &simulation.Row{Values: make([]string, len(columns)), Null: make([]bool, len(columns))}
	var text []byte
	return func(_ int, b *rows.Batch) error {
	row:
		for i := range b.N {
			for c := range columns {
				v := &b.Columns[c]
				row.Null[c] = v.Null(i)
				if !row.Null[c] && v.Kind == rows.Text && v.Spans[i].Nested() {
					if c < ofKeys {
						b.Drop(i, fmt.Sprintf("column %q is a JSON object or array, which is no value of a key", columns[c]))
						continue row
					}
					row.Null[c] = true
				}
				text = v.AppendText(text[:0], i, types[c])
				row.Values[c] = string(text)
			}
			row.Bytes = rowOverhead
			for c := range b.Columns {
				if v := &b.Columns[c]; !v.Null(i) {
					text = v.AppendText(text[:0], i, types[c])
					row.Bytes += cellOverhead + int64(len(text))
				}
			}
			var bad *simulation.BadValue
			if err := sim.AddRow(row); errors.As(err, &bad) {
				b.Drop(i, bad.Error())
			} else if err != nil {
				return err
			}
		}
		return nil
	}
}

// These are about what Cassandra stores with a row and a cell: flags, a timestamp and lengths.
const (
	rowOverhead  = 10
	cellOverhead = 2
)
