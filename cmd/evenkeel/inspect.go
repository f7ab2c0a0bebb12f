// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/nodetool"
	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/report"
)

// inspectCmd holds the arguments of `evenkeel inspect`.
type inspectCmd struct {
	Table string `arg:"" help:"A table of Cassandra, of a similar store, or behind an evenkeel door: cql://[user@]host[:port]/keyspace.table. A table of DynamoDB: dynamodb://us-east-1/table, or dynamodb://host:port/table."`

	Sample   string   `placeholder:"FRACTION" help:"Read this part of the ring: 0.01, or 1%. By default all of a small table, and as much of a large one as is possible without --yes."`
	Whole    bool     `help:"Read all of it."`
	Yes      bool     `help:"Allow reads of more than a million rows, a gigabyte, or a dollar's worth."`
	State    string   `placeholder:"FILE" help:"File for the state of an unfinished inspection and the results of the last one; 'none' for no file. By default a file for each table in ~/.local/state/evenkeel/inspect."`
	Restart  bool     `help:"Begin again, although the last inspection was not finished."`
	Nodetool []string `name:"nodetool" placeholder:"FILE" help:"Output of nodetool toppartitions, nodetool tablehistograms or sstablepartitions; - is standard input. Repeat it for more files."`
	Top      int      `default:"10" help:"How many of the largest partitions to name (${default})."`
	Target   string   `enum:"auto,cassandra,keyspaces,dynamodb" default:"auto" help:"The store that bills the reads: ${enum} (${default}: the command finds out)."`
	Prices   string   `placeholder:"FILE" help:"Prices in place of the built-in ones, in the same form (workbench/prices/prices.yaml)."`
	Region   string   `default:"us-east-1" help:"Whose prices (${default})."`
	JSON     bool     `name:"json" help:"Print the report as JSON: sizes, largest, nodes, growth, key, unknown, …"`
	HTML     string   `name:"html" placeholder:"FILE" help:"Write the report as one HTML file, too; values of keys are redacted in it."`
	ShowKeys bool     `help:"Show values of keys in the HTML file."`

	liveFlags
	at       live.Address
	dynamo   *livedynamo.Address // set for a DynamoDB table
	fraction float64             // 0: chosen by the table's size
	added    func(ranges int)    // called with the number of ranges read completely; may be nil
}

// partialResult is the exit code of a report that covers less than was planned.
const partialResult = 3

// Validate checks the arguments that can be checked without the store.
func (c *inspectCmd) Validate() error {
	if c.Table == "" {
		return nil // kong reports that it is missing
	}
	var err error
	if livedynamo.Is(c.Table) {
		at, err := livedynamo.Parse(c.Table)
		if err != nil {
			return liveHint(err)
		}
		c.dynamo = &at
		if err := c.checkDynamoDB(); err != nil {
			return err
		}
	} else if c.at, err = live.Parse(c.Table); err != nil {
		return liveHint(err)
	}
	switch {
	case c.Sample != "" && c.Whole:
		return errors.New("--sample and --whole exclude each other")
	case c.Whole:
		c.fraction = 1
	case c.Sample != "":
		if c.fraction, err = fractionOf(c.Sample); err != nil {
			return err
		}
	}
	if c.Top < 0 || c.Top > inspection.Kept {
		return fmt.Errorf("--top: %d is not from 0 to %d", c.Top, inspection.Kept)
	}
	stdin := 0
	for _, f := range c.Nodetool {
		if f == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("--nodetool: standard input can be read once")
	}
	return c.check()
}

// fractionOf parses a fraction such as 0.01 or 1%.
func fractionOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f > 0 && f <= 1) {
		return 0, withHint(fmt.Errorf("--sample %s: is not a part of a table", text), "give a number above 0, up to 1, or with %%: 0.01 and 1%% are a hundredth")
	}
	return f, nil
}

// Run inspects the table and prints the report.
func (c *inspectCmd) Run(std *stdio) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := c.inspect(ctx, std); err != nil {
		return liveHint(fmt.Errorf("inspect: %w", err))
	}
	return nil
}

func (c *inspectCmd) inspect(ctx context.Context, std *stdio) error {
	if c.dynamo != nil {
		return c.inspectDynamoDB(ctx, std)
	}
	outside, err := c.outside()
	if err != nil {
		return err
	}
	file, err := c.stateFile()
	if err != nil {
		return err
	}
	o, err := c.options(c.at)
	if err != nil {
		return err
	}
	t, err := live.Open(ctx, c.at, o)
	if err != nil {
		return early(ctx, err)
	}
	defer t.Close()
	s := &survey{cmd: c, t: t, std: std, file: file}
	partitions, err := t.Partitions(ctx) // before the reading changes them
	if err != nil {
		return early(ctx, err)
	}
	s.partitions = cqlPartitions(t.Schema(), partitions)
	if err := s.prepare(ctx); err != nil {
		return early(ctx, err)
	}
	return s.carryOut(ctx, func(finish context.Context, why error) (*inspection.Report, error) {
		return s.report(finish, ctx, why, outside)
	})
}

// carryOut reads what was planned and makes a report of what was read.
func (s *survey) carryOut(ctx context.Context, makeReport func(finish context.Context, why error) (*inspection.Report, error)) error {
	why := s.read(ctx)
	if errors.Is(why, livetable.ErrDropped) {
		s.forget()
		return why
	}
	if why != nil && len(s.run.Done) == 0 {
		return early(ctx, why)
	}
	// The last few requests are sent even after an interruption.
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	made, err := makeReport(finish, why)
	if err != nil {
		return err
	}
	if err := s.keep(made); err != nil {
		return err
	}
	if err := s.cmd.print(s.std, made); err != nil {
		return err
	}
	if made.Coverage.Partial {
		err := fmt.Errorf("the result is partial, of %s of the planned reads: %s", report.Percent(made.Coverage.Read/made.Coverage.Planned), made.Coverage.Why)
		if s.file == "" {
			return &coded{withHint(err, "with --state FILE the same command goes on where this one stopped"), partialResult}
		}
		return &coded{withHint(err, "the same command goes on where this one stopped (%s)", s.file), partialResult}
	}
	return nil
}

// early returns the error for an inspection that ended before anything was counted.
func early(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return withHint(errors.New("stopped before the first range of tokens was read"), "the same command begins again")
}

// print prints the report.
func (c *inspectCmd) print(std *stdio, r *inspection.Report) error {
	if c.HTML != "" {
		if err := writeFile(c.HTML, func(w io.Writer) error { return report.InspectionHTML(w, r, c.ShowKeys) }); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	if !c.JSON {
		return report.InspectionText(std.out, r)
	}
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// priceList returns the prices of a store that bills reads, or nil for other stores.
func (c *inspectCmd) priceList(keyspaces bool) (*prices.List, error) {
	if c.Target == "cassandra" || c.Target == "auto" && !keyspaces {
		return nil, nil
	}
	return c.pricesOf("keyspaces", c.Region)
}

// pricesOf returns the prices of a store in a region.
func (c *inspectCmd) pricesOf(store, region string) (*prices.List, error) {
	f := prices.Builtin()
	if c.Prices != "" {
		text, err := os.ReadFile(c.Prices)
		if err != nil {
			return nil, fmt.Errorf("--prices: %w", err)
		}
		if f, err = prices.Read(text); err != nil {
			return nil, fmt.Errorf("--prices %s: %w", c.Prices, err)
		}
	}
	list, err := f.Of(store, region)
	if err != nil {
		return nil, withHint(fmt.Errorf("--region %s: %w", region, err), "--prices FILE has others; the form is that of workbench/prices/prices.yaml")
	}
	return list, nil
}

// outside reads the files of --nodetool.
func (c *inspectCmd) outside() ([]*nodetool.Output, error) {
	var all []*nodetool.Output
	for _, name := range c.Nodetool {
		var text []byte
		var err error
		if name == "-" {
			text, err = io.ReadAll(os.Stdin)
		} else {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, fmt.Errorf("--nodetool: %w", err)
		}
		o, err := nodetool.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--nodetool %s: %w", name, err)
		}
		table := c.at.Keyspace + "." + c.at.Table
		own := o.Of(table)
		if len(own.Tables()) == 0 && len(o.Tables()) > 0 {
			return nil, withHint(fmt.Errorf("--nodetool %s: has nothing of %s", name, table), "it is about %s", strings.Join(o.Tables(), ", "))
		}
		all = append(all, own)
	}
	return all, nil
}

// stateFile returns the path of the state file, or "" if no state is kept.
func (c *inspectCmd) stateFile() (string, error) {
	switch c.State {
	case "none":
		return "", nil
	case "":
	default:
		return c.State, nil
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", withHint(fmt.Errorf("where to keep the state: %w", err), "--state FILE, or --state none")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	table := ""
	if c.dynamo != nil {
		table = "dynamodb_" + c.dynamo.Host() + "_" + c.dynamo.Table
	} else {
		table = c.at.Hosts[0] + "_" + c.at.Keyspace + "." + c.at.Table
	}
	name := strings.NewReplacer(":", "_", "/", "_", `"`, "", "[", "", "]", "").Replace(table)
	return filepath.Join(dir, "evenkeel", "inspect", name+".json"), nil
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
