// SPDX-License-Identifier: Apache-2.0

// Command evenkeel holds the two front doors and their tools. Each command has one file.
//
// Rules for its output: data go to stdout and everything else to stderr. An error is lower case,
// names what was being done, and ends with a hint if there is a way out. Exit codes: 0 done, 1
// failed, 2 wrong usage, 3 a partial result (inspect, demo), 4 no verdict (advise without
// queries).
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/evenkeel/evenkeel/engine/storage"
)

// version is the release that this tree will become.
const version = "0.2.0"

type cli struct {
	Serve serveCmd `cmd:"" help:"Serve CQL, in front of a Cassandra cluster or on the embedded engine, and DynamoDB."`

	Explain explainCmd `cmd:"" help:"Show what a statement on a write-sharded table becomes, without executing it."`

	Shards   shardsCmd   `cmd:"" help:"Say how many shards a hot partition key needs."`
	Advise   adviseCmd   `cmd:"" help:"Recommend a primary key, from your own rows and queries."`
	Simulate simulateCmd `cmd:"" help:"Try partition keys on rows of your own: sizes of partitions and nodes."`
	Inspect  inspectCmd  `cmd:"" help:"Say what a live table is like: sizes of its partitions, the largest, nodes, growth."`

	Reshard reshardCmd `cmd:"" help:"Change the number of a table's shards while it is in use."`

	Top topCmd `cmd:"" help:"Watch a running server: requests, latency, errors, the busiest tables, hosts."`

	Demo demoCmd `cmd:"" help:"Show how a hot partition key is throttled, and how shards help: in memory, in a minute."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// stdio holds the outputs of a command.
type stdio struct{ out, err io.Writer }

// exit is the panic value with which kong ends the program during Parse, for --help.
type exit int

func run(args []string, out, errs io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(exit)
			if !ok {
				panic(p)
			}
			code = int(e)
		}
	}()
	var c cli
	parser := kong.Must(&c,
		kong.Name("evenkeel"),
		kong.Description("Declare a table write-sharded, and go on using it as if it were not."),
		kong.Vars{"version": "evenkeel " + versionText()},
		kong.Writers(out, errs),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Configuration(loadConfig),
	)
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(errs, "evenkeel: %v\n", err)
		var bad *kong.ParseError
		if errors.As(err, &bad) && bad.Context != nil && bad.Context.Command() == "" {
			fmt.Fprintln(errs, "hint: evenkeel --help lists the commands")
		}
		printHint(errs, err)
		return 2
	}
	if err := ctx.Run(&stdio{out, errs}); err != nil {
		fmt.Fprintf(errs, "evenkeel: %v\n", err)
		printHint(errs, err)
		var c *coded
		if errors.As(err, &c) {
			return c.code
		}
		return 1
	}
	return 0
}

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

func (c *coded) Unwrap() error { return c.error }

// printHint prints the error's hint, if it has one.
func printHint(errs io.Writer, err error) {
	var h *hinted
	if errors.As(err, &h) {
		fmt.Fprintf(errs, "hint: %s\n", h.hint)
	}
}

// hinted is an error with a hint.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

func withHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// storeHint adds a hint to an error of opening the data directory.
func storeHint(err error, otherwise string) error {
	if errors.Is(err, storage.ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return withHint(err, "make room on the disk of the data directory")
	}
	return withHint(err, "%s", otherwise)
}

// versionText returns the version, and the commit if the build knows it.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			revision = " (" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	if revision == "" {
		return version + " " + info.GoVersion
	}
	return version + revision + dirty + ") " + info.GoVersion
}
