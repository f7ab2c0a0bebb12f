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
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/report"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// adviseCmd holds the arguments of `evenkeel advise`.
type adviseCmd struct {
	Data string `arg:"" help:"Rows: CSV, JSON Lines or Parquet; may be compressed with gzip or zstd; - is standard input; cql://host/keyspace.table and dynamodb://us-east-1/table (or dynamodb://host:port/table) are live tables."`

	Queries   string            `placeholder:"FILE" help:"The statements that the table must serve, one a line, CQL or DynamoDB expressions, each with its rate after it: SELECT * FROM t WHERE code = ? -- 500/s. Without it there is no verdict (exit code 4)."`
	Target    string            `placeholder:"STORE" help:"The store whose limits, prices and statements apply: cassandra, keyspaces, scylla or dynamodb (cassandra; for a table of DynamoDB, dynamodb)."`
	Table     string            `placeholder:"NAME" help:"Name of the table in the statements printed, keyspace.table or table; that of the queries by default."`
	Type      map[string]string `placeholder:"COL=TYPE" mapsep:"none" help:"CQL type of a column, if the data do not show it. Repeat it for more columns."`
	EventTime string            `placeholder:"COL" help:"The column that says when a row was written, in any form of dates or numbers since 1970, or none; the most likely one by default."`
	dateFlags
	NodeWritesPerSecond perSecond `placeholder:"RATE" help:"Writes a second that a node can carry out, for cassandra and scylla (10,000); measure yours."`
	LocalIndex          bool      `help:"The DynamoDB table has a local secondary index: a key can then have at most 10 GB."`
	Prices              string    `placeholder:"FILE" help:"Prices in place of the built-in ones, in the same form (workbench/prices/prices.yaml)."`
	Region              string    `default:"us-east-1" help:"Whose prices (${default})."`
	JSON                bool      `name:"json" help:"Print the report as JSON: verdict, antipatterns, hot_keys, candidates, …"`
	HTML                string    `name:"html" placeholder:"FILE" help:"Write the report as one HTML file, too; values of keys are redacted in it."`
	ShowKeys            bool      `help:"Show values of keys in the HTML file."`

	tableFlags
	PasswordFile string `placeholder:"FILE" help:"File with the password of the user in cql://user@host/keyspace.table."`

	inputFlags
	types map[string]*value.Type
}

// noVerdict is the exit code when advise is given no queries and so cannot judge the keys.
const noVerdict = 4

// Validate checks the flags that can be checked without the data.
func (a *adviseCmd) Validate() error {
	if a.Target == "" {
		a.Target = "cassandra"
		if livedynamo.Is(a.Data) {
			a.Target = "dynamodb"
		}
	}
	if targets := []string{"cassandra", "keyspaces", "scylla", "dynamodb"}; !slices.Contains(targets, a.Target) {
		return fmt.Errorf("--target %s: is none of %s", a.Target, strings.Join(targets, ", "))
	}
	a.types = make(map[string]*value.Type)
	for column, name := range a.Type {
		t := value.Named(strings.ToLower(name))
		if t == nil || t.Kind == value.Counter {
			return withHint(fmt.Errorf("--type %s=%s: there is no such column type", column, name), "the simple CQL types: text, int, bigint, uuid, timeuuid, timestamp, date, …")
		}
		a.types[column] = t
	}
	switch n := a.NodeWritesPerSecond; {
	case n < 0 || n > 1e9 || n != n:
		return fmt.Errorf("--node-writes-per-second: %v is not the rate of a node", n)
	case n > 0 && a.Target != "cassandra" && a.Target != "scylla":
		return withHint(fmt.Errorf("--node-writes-per-second: with %s you have no nodes of your own", a.Target), "its limits are those of a partition, 1,000 write units a second")
	case a.LocalIndex && a.Target != "dynamodb":
		return fmt.Errorf("--local-index is for --target dynamodb")
	}
	if err := a.dateFlags.check(); err != nil {
		return err
	}
	if err := a.tableFlags.check(live.Is(a.Data) || livedynamo.Is(a.Data)); err != nil {
		return err
	}
	if !live.Is(a.Data) && a.PasswordFile != "" {
		return fmt.Errorf("--password-file is for live tables, cql://host/keyspace.table")
	}
	return a.inputFlags.check()
}

// Run reads the rows two or three times and prints the report.
func (a *adviseCmd) Run(std *stdio) error {
	r, err := a.advise(std)
	if err != nil {
		return failed("advise", err)
	}
	if a.HTML != "" {
		if err := writeFile(a.HTML, func(w io.Writer) error { return report.AdviceHTML(w, r, a.ShowKeys) }); err != nil {
			return fmt.Errorf("advise: --html: %w", err)
		}
	}
	if a.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		err = report.Advice(std.out, r)
	}
	if err == nil && r.Partial {
		return interrupted("advise", r.Rows)
	}
	if err == nil && r.Verdict == nil {
		err = &coded{withHint(fmt.Errorf("advise: no verdict: %s", r.NoVerdict), "give --queries FILE, with one statement a line and its rate after it: SELECT * FROM %s WHERE … -- 500/s", r.Table), noVerdict}
	}
	return err
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// failed wraps the error of a command that reads rows and adds a hint.
func failed(command string, err error) error {
	err = fmt.Errorf("%s: %w", command, err)
	if hint := adviseHint(err); hint != "" {
		return withHint(err, "%s", hint)
	}
	return err
}

// adviseHint returns the hint for an error, or "" if there is none.
func adviseHint(err error) string {
	var (
		syntax  *queries.SyntaxError
		unknown *queries.UnknownColumn
		column  *advice.NoColumn
		hinted  *hinted
	)
	switch {
	case errors.As(err, &hinted):
		return "" // it has one
	case errors.As(err, &syntax):
		return syntax.Hint
	case errors.As(err, &unknown):
		return columnHint(unknown.Column, unknown.Columns)
	case errors.As(err, &column):
		return columnHint(column.Column, column.Columns)
	}
	if hint := livetable.Hint(err); hint != "" {
		return hint
	}
	return rows.Hint(err)
}

func columnHint(column string, columns []string) string {
	list := columns
	more := ""
	if len(list) > 20 {
		list, more = list[:20], fmt.Sprintf(" and %d more", len(columns)-20)
	}
	hint := fmt.Sprintf("the columns are %s%s", strings.Join(list, ", "), more)
	if near := rows.Nearest(column, columns); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return hint
}

func (a *adviseCmd) advise(std *stdio) (*advice.Report, error) {
	qs, err := a.readQueries()
	if err != nil {
		return nil, err
	}
	o := advice.Options{
		Target: advice.Target(a.Target), Table: a.tableName(qs), EventTime: a.EventTime, NodeWrites: float64(a.NodeWritesPerSecond), LocalIndex: a.LocalIndex,
	}
	if a.Target == "dynamodb" || a.Target == "keyspaces" {
		if o.Prices, err = a.prices(); err != nil {
			return nil, err
		}
	}
	// The first Ctrl-C stops the reading and reports on the rows read so far. The second one ends
	// the program.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	boundMemory()
	src, done, err := a.open(ctx, std, o.Prices)
	if err != nil {
		return nil, err
	}
	defer done()
	p := newProgress(std.err, src)
	defer p.end()
	po := profile.Options{Types: a.types, MonthFirst: a.monthFirst(), MaxBadRows: a.MaxBadRows, Progress: p.rows}
	study, r, err := advice.Run(ctx, src, qs, o, po, p.phase)
	if err != nil {
		var unknown *queries.UnknownColumn
		if errors.As(err, &unknown) {
			unknown.File = a.Queries
		}
		return nil, err
	}
	p.end()
	passedOver(std.err, r.BadFirst, r.BadRows)
	if a.HTML != "" {
		r.Details = study.Details()
		switch err := study.Detailed(ctx, src, po, r.Details); {
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			r.Details = nil
			fmt.Fprintln(std.err, "evenkeel: interrupted: the file has no plots")
		case err != nil:
			return nil, err
		}
	}
	return r, nil
}

// input is data that can be read several times.
type input interface {
	profile.Input
	source
}

// open opens the file or the live table.
func (a *adviseCmd) open(ctx context.Context, std *stdio, list *prices.List) (in input, done func(), err error) {
	if livedynamo.Is(a.Data) {
		return a.openDynamoDB(ctx, std.err, a.Data, list)
	}
	if !live.Is(a.Data) {
		src, err := rows.Open(a.Data, a.inputFlags.options(ctx, true))
		if err != nil {
			return nil, nil, err
		}
		return src, src.Close, nil
	}
	at, err := live.Parse(a.Data)
	if err != nil {
		return nil, nil, err
	}
	password := []byte(nil)
	if a.PasswordFile != "" {
		if password, err = os.ReadFile(a.PasswordFile); err != nil {
			return nil, nil, fmt.Errorf("--password-file: %w", err)
		}
	}
	t, err := live.Open(ctx, at, live.Options{Password: strings.TrimRight(string(password), "\r\n")})
	if err != nil {
		return nil, nil, err
	}
	r := t.Rows(live.RowsOptions{Fraction: a.Sample, Seed: 1})
	return table{r}, func() {
		r.Close()
		t.Close()
	}, nil
}

// table is a live table. Its size is not known.
type table struct{ *live.Rows }

func (table) Progress() (read, size int64) { return 0, 0 }

func (a *adviseCmd) readQueries() ([]queries.Query, error) {
	if a.Queries == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.Queries)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("--queries %s: %w", a.Queries, err)
	}
	qs, err := queries.Parse(string(text))
	var bad *queries.SyntaxError
	if errors.As(err, &bad) {
		bad.File = a.Queries
	}
	return qs, err
}

func (a *adviseCmd) prices() (*prices.List, error) { return priceList(a.Prices, a.Region, a.Target) }

// tableName returns the name of the table for the report. It returns "" if the queries name it.
func (a *adviseCmd) tableName(qs []queries.Query) string {
	if a.Table != "" {
		return a.Table
	}
	if at, err := livedynamo.Parse(a.Data); err == nil && a.Target == "dynamodb" {
		return at.Table // CQL in the queries has lost the case of the name
	}
	for i := range qs {
		if qs[i].Table != "" {
			return ""
		}
	}
	if at, err := live.Parse(a.Data); err == nil {
		return at.Keyspace + "." + at.Table
	}
	if at, err := livedynamo.Parse(a.Data); err == nil {
		return at.Table
	}
	return advice.TableName(filepath.ToSlash(a.Data))
}
