// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
)

// reshardCmd holds the arguments of `evenkeel reshard`.
type reshardCmd struct {
	Plan     reshardPlanCmd     `cmd:"" help:"Say what a change would cost, and change nothing."`
	Start    reshardStartCmd    `cmd:"" help:"Begin a change; a door carries it out."`
	Status   reshardStatusCmd   `cmd:"" help:"Say how far a change is."`
	Pause    reshardPauseCmd    `cmd:"" help:"Stop moving rows or items for now; reads and writes go on."`
	Resume   reshardResumeCmd   `cmd:"" help:"Continue a change that was paused."`
	Rollback reshardRollbackCmd `cmd:"" help:"Take the change back, if this is still possible."`
	Finish   reshardFinishCmd   `cmd:"" help:"End the waits that are only a precaution."`
	Key      reshardKeyCmd      `cmd:"" help:"Give one partition key a number of shards of its own."`
}

// reshardTable names the table whose layout is changed, and its door.
type reshardTable struct {
	Table    string `arg:"" help:"keyspace.table of CQL, or the table's name of DynamoDB."`
	CQL      string `name:"cql" placeholder:"HOST:PORT" help:"An evenkeel door for CQL."`
	DynamoDB string `name:"dynamodb" placeholder:"URL" help:"An evenkeel door for DynamoDB: http://127.0.0.1:8000."`
	JSON     bool   `name:"json" help:"Print the answer as JSON."`
}

// Validate returns an error if flags contradict each other.
func (c *reshardTable) Validate() error {
	switch {
	case c.Table == "":
		return nil // kong reports that it is missing
	case (c.CQL == "") == (c.DynamoDB == ""):
		return errors.New("give either --cql HOST:PORT or --dynamodb URL: the door that changes the table")
	}
	return nil
}

// open connects to the door.
func (c *reshardTable) open(ctx context.Context) (reshard.Changer, error) {
	if c.CQL != "" {
		return openCQLChanger(ctx, c.CQL, c.Table)
	}
	u, err := url.Parse(c.DynamoDB)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, withHint(fmt.Errorf("--dynamodb %s is not the address of a door", c.DynamoDB), "write http://127.0.0.1:8000")
	}
	t, err := livedynamo.Open(ctx, livedynamo.Address{Endpoint: u.Scheme + "://" + u.Host, Table: c.Table}, livedynamo.Options{})
	if err != nil {
		return nil, err
	}
	return t.Reshard(), nil
}

// with connects to the door and calls do. Ctrl-C cancels the context of do.
func (c *reshardTable) with(do func(context.Context, reshard.Changer) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	door, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer door.Close()
	return do(ctx, door)
}

// tell calls do and prints the status that do returns.
func (c *reshardTable) tell(std *stdio, do func(context.Context, reshard.Changer) (reshard.Status, error)) error {
	return c.with(func(ctx context.Context, door reshard.Changer) error {
		s, err := do(ctx, door)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std, s)
		}
		fmt.Fprint(std.out, statusText(&s))
		return nil
	})
}

func printJSON(std *stdio, v any) error {
	enc := json.NewEncoder(std.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// layoutText describes a layout in words: a number of shards, or what the door says of another strategy.
func layoutText(shards int, other string) string {
	switch {
	case other != "":
		return other
	case shards == 0:
		return "a plain table"
	case shards == 1:
		return "1 shard"
	}
	return fmt.Sprintf("%d shards", shards)
}

// reshardTarget is the layout that a table gets.
type reshardTarget struct {
	Shards int    `default:"-1" placeholder:"N" help:"How many shards each key gets; 0: a plain table."`
	Layout string `placeholder:"OPTIONS" help:"In place of --shards, the layout as in the tag write-sharding: 'strategy=time bucket=1h shards=4'. For CQL, the options of write_sharding in this form."`
}

// target returns the layout.
func (c *reshardTarget) target() (reshard.Target, error) {
	switch {
	case c.Layout != "" && c.Shards >= 0:
		return reshard.Target{}, withHint(errors.New("--shards and --layout both say the new layout"), "give --shards N for shards by a hash, or write shards=N in --layout")
	case strings.TrimSpace(c.Layout) != "":
		return reshard.Target{Layout: c.Layout}, nil
	case c.Shards < 0:
		return reshard.Target{}, withHint(errors.New("the new layout is missing"), "give --shards N, or --layout 'strategy=time bucket=1h shards=4'")
	}
	return reshard.Target{Shards: c.Shards}, nil
}

type reshardStartCmd struct {
	reshardTable
	reshardTarget
	Wait bool `help:"Return when the change is over. Ctrl-C ends the waiting, not the change."`
}

// Run begins a change.
func (c *reshardStartCmd) Run(std *stdio) error {
	to, err := c.target()
	if err != nil {
		return err
	}
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) {
		s, err := door.Start(ctx, to)
		if err != nil || !c.Wait {
			return s, err
		}
		return waitForChange(ctx, std.err, door, s)
	})
}

type reshardStatusCmd struct{ reshardTable }

// Run prints the progress of a change.
func (c *reshardStatusCmd) Run(std *stdio) error {
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) { return door.Status(ctx) })
}

type reshardPauseCmd struct{ reshardTable }

// Run pauses the mover.
func (c *reshardPauseCmd) Run(std *stdio) error {
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) { return door.Pause(ctx) })
}

type reshardResumeCmd struct{ reshardTable }

// Run resumes the mover.
func (c *reshardResumeCmd) Run(std *stdio) error {
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) { return door.Resume(ctx) })
}

type reshardRollbackCmd struct{ reshardTable }

// Run rolls a change back.
func (c *reshardRollbackCmd) Run(std *stdio) error {
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) { return door.Rollback(ctx) })
}

type reshardFinishCmd struct{ reshardTable }

// Run ends the waits that a change makes only as a precaution.
func (c *reshardFinishCmd) Run(std *stdio) error {
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) { return door.Finish(ctx) })
}

type reshardKeyCmd struct {
	reshardTable
	Key    string `arg:"" help:"The partition key's value; the parts of a composite one with commas between."`
	Shards int    `required:"" help:"How many shards the key gets."`
}

// Run gives one key a number of shards of its own.
func (c *reshardKeyCmd) Run(std *stdio) error {
	return c.tell(std, func(ctx context.Context, door reshard.Changer) (reshard.Status, error) {
		return door.Key(ctx, c.Key, c.Shards)
	})
}
