// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
)

// explainCmd holds the arguments of `evenkeel explain`.
type explainCmd struct {
	CQL          string        `name:"cql" placeholder:"HOST[:PORT]" default:"127.0.0.1:9042" help:"The front door to ask (${default})."`
	DynamoDB     string        `name:"dynamodb" placeholder:"URL" help:"Ask this DynamoDB door instead: http://127.0.0.1:8000."`
	Keyspace     string        `placeholder:"NAME" help:"Keyspace of unqualified names."`
	User         string        `placeholder:"NAME" help:"The account to use, if the door asks for one."`
	PasswordFile string        `placeholder:"FILE" help:"File with the account's password."`
	Timeout      time.Duration `default:"10s" help:"How long the door may take (${default})."`
	JSON         bool          `name:"json" help:"Print the plan as JSON: table, layout, access, shards, statements."`

	Statement string `arg:"" help:"A CQL statement, or with --dynamodb an operation and its request: 'Query {…}'. It is planned, not executed."`
}

// explained is the JSON output of explain.
type explained struct {
	Sharded bool `json:"sharded"`
	*definitions.Explanation
}

// Run asks the door for the plan and prints it.
func (e *explainCmd) Run(std *stdio) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.Timeout)
	defer cancel()
	if e.DynamoDB != "" {
		return e.explainRequest(ctx, std)
	}
	options := cluster.Options{Contacts: []string{e.CQL}}
	links := store.LinkOptions{Version: wire.V4, Keyspace: e.Keyspace}
	if e.User != "" {
		password, err := os.ReadFile(e.PasswordFile)
		if err != nil {
			return withHint(fmt.Errorf("explain: %w", err), "give the password of %s in a file by --password-file", e.User)
		}
		links.Username, links.Password = e.User, strings.TrimRight(string(password), "\r\n")
		options.Username, options.Password = links.Username, links.Password
	}
	door, err := cluster.Connect(ctx, options)
	if err != nil {
		return withHint(fmt.Errorf("explain: %w", err), "--cql says where a front door listens; evenkeel serve starts one")
	}
	defer door.Close()
	link, err := door.Open(ctx, links)
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	defer link.Close()
	out, err := askPlan(ctx, link, e.Statement)
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	if e.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	}
	printPlan(std, out)
	return nil
}

// askPlan prepares the statement at the door and takes the plan from the response.
func askPlan(ctx context.Context, link store.Link, text string) (*explained, error) {
	body := wire.AppendBytesMap(nil, map[string][]byte{definitions.ExplainPayload: {}})
	body = wire.AppendPrepare(body, wire.V4, &wire.Prepare{Text: []byte(text)})
	type answer struct {
		out *explained
		err error
	}
	done := make(chan answer, 1)
	link.Send(ctx, wire.Message{Op: wire.OpPrepare, Flags: wire.FlagCustomPayload, Body: body}, func(resp wire.Message) {
		out, err := planOf(resp)
		done <- answer{out, err}
	})
	select {
	case a := <-done:
		return a.out, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func planOf(resp wire.Message) (*explained, error) {
	p, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(wire.V4, body)
		if err != nil {
			return nil, err
		}
		return nil, e
	}
	out := &explained{}
	if p.Payload != nil {
		c := wire.NewCursor(p.Payload)
		if text, ok := c.BytesMap()[definitions.ExplainPayload]; ok {
			err := json.Unmarshal(text, &out.Explanation)
			out.Sharded = err == nil && out.Layout != ""
			return out, err
		}
	}
	return out, nil
}

// printPlan prints a plan as text.
func printPlan(std *stdio, out *explained) {
	if !out.Sharded {
		fmt.Fprintln(std.out, "forwarded as it is: no write-sharded table is named")
		printRule(std, out)
		return
	}
	fmt.Fprintf(std.out, "%s  write_sharding = %s\n", out.Table, out.Layout)
	printRule(std, out)
	fmt.Fprintf(std.out, "access: %s", out.Access)
	if out.Output != "" {
		fmt.Fprintf(std.out, ", %s", out.Output)
	}
	if len(out.Order) > 0 {
		fmt.Fprintf(std.out, ", merged by %s", strings.Join(out.Order, ", "))
	}
	fmt.Fprintln(std.out)
	if n := len(out.Shards); n > 0 {
		fmt.Fprintf(std.out, "shards: %d (%s)\n", n, ranges(out.Shards))
	}
	printBuckets(std, out.Buckets)
	for _, s := range out.Statements {
		fmt.Fprintf(std.out, "\n%s\n", s.CQL)
		for i, v := range s.Values {
			if len(v) > 60 {
				v = v[:57] + "..."
			}
			fmt.Fprintf(std.out, "  %d: %s\n", i+1, v)
		}
	}
	if out.More {
		fmt.Fprintln(std.out, "\n… and further statements, which are not shown")
	}
}

// printBuckets prints when the visited buckets of time begin.
func printBuckets(std *stdio, buckets []string) {
	if n := len(buckets); n == 1 {
		fmt.Fprintf(std.out, "buckets: 1 (%s)\n", buckets[0])
	} else if n > 1 {
		fmt.Fprintf(std.out, "buckets: %d (%s to %s)\n", n, buckets[0], buckets[n-1])
	}
}

// printRule prints which shard rule applies to the table.
func printRule(std *stdio, out *explained) {
	if out.Explanation == nil || out.Rule == nil {
		return
	}
	if out.Rule.Declared != "" {
		fmt.Fprintf(std.out, "by the shard rule %s\n", out.Rule.Declared)
	}
	if out.Rule.Note != "" {
		fmt.Fprintf(std.out, "shard rules: %s\n", out.Rule.Note)
	}
}

// ranges formats sorted numbers and shortens a run of them to a-b.
func ranges(ns []int) string {
	var parts []string
	for i := 0; i < len(ns); {
		j := i
		for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(ns[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", ns[i], ns[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
