// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
)

// requestForm says how a request is written.
const requestForm = `write the operation and its request: 'Query {"TableName": "Logs", …}'`

// explainRequest asks a DynamoDB door for the plan of a request and prints it.
func (e *explainCmd) explainRequest(ctx context.Context, std *stdio) error {
	u, err := url.Parse(e.DynamoDB)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return withHint(fmt.Errorf("--dynamodb %s is not the address of a door", e.DynamoDB), "write http://127.0.0.1:8000")
	}
	operation, body, _ := strings.Cut(strings.TrimSpace(e.Statement), " ")
	if !json.Valid([]byte(body)) {
		return withHint(errors.New("explain: the request has no JSON"), "%s", requestForm)
	}
	q, err := api.DecodeItemRequest(operation, []byte(body))
	if err != nil {
		return withHint(fmt.Errorf("explain: %s", exception.Of(err).Message), "%s", requestForm)
	}
	table := ""
	q.EachTable(func(name string) {
		if table == "" {
			table = strings.Clone(api.TableName(name))
		}
	})
	t, err := livedynamo.Open(ctx, livedynamo.Address{Endpoint: u.Scheme + "://" + u.Host, Table: table}, livedynamo.Options{Timeout: e.Timeout})
	if err != nil {
		return err
	}
	defer t.Close()
	text, err := t.Explain(ctx, q)
	if err != nil {
		return err
	}
	var out plan.Explained
	if err := json.Unmarshal(text, &out); err != nil {
		return fmt.Errorf("explain: the door's answer: %w", err)
	}
	if e.JSON {
		return printJSON(std, &out)
	}
	printRequestPlan(std, &out)
	return nil
}

// printRequestPlan prints the plan of a DynamoDB request as text.
func printRequestPlan(std *stdio, out *plan.Explained) {
	if out.Table == "" {
		fmt.Fprintln(std.out, "forwarded as it is: no write-sharded table is named")
		return
	}
	fmt.Fprintf(std.out, "%s  write-sharding = %s\n", out.Table, out.Layout)
	if out.Rule != "" {
		fmt.Fprintf(std.out, "by the shard rule %s\n", out.Rule)
	}
	fmt.Fprintf(std.out, "access: %s", out.Access)
	if out.Order != "" {
		fmt.Fprintf(std.out, ", in the order of %s", out.Order)
	}
	fmt.Fprintln(std.out)
	if n := len(out.Shards); n > 0 {
		fmt.Fprintf(std.out, "shards: %d (%s)\n", n, ranges(out.Shards))
	}
	printBuckets(std, out.Buckets)
	for _, r := range out.Requests {
		fmt.Fprintf(std.out, "\n%s\n", r.Text)
	}
	if out.More {
		fmt.Fprintln(std.out, "\n… and further shards, which are not shown")
	}
	for i, text := range out.Then {
		if i == 0 {
			fmt.Fprintln(std.out)
		}
		fmt.Fprintf(std.out, "then %s\n", text)
	}
}
