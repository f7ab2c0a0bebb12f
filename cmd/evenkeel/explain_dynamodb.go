// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
)

// requestForm says how a request is written.
const requestForm = `write the operation and its request: 'Query {"TableName": "Logs", …}', or a PartiQL statement; one with parameters is 'ExecuteStatement {"Statement": "…", "Parameters": […]}'`

// explainRequest asks a DynamoDB door for the plan of a request and prints it.
func (e *explainCmd) explainRequest(ctx context.Context, std *stdio) error {
	u, err := url.Parse(e.DynamoDB)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return withHint(fmt.Errorf("--dynamodb %s is not the address of a door", e.DynamoDB), "write http://127.0.0.1:8000")
	}
	q, table, err := askedOf(e.Statement)
	if err != nil {
		return withHint(fmt.Errorf("explain: %s", exception.Of(err).Message), "%s", requestForm)
	}
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

// askedOf reads what is to be explained: an operation and its request, or a PartiQL statement. It also
// returns the first table that it names.
func askedOf(text string) (q *api.Explain, table string, err error) {
	operation, body := strings.TrimSpace(text), ""
	if end := strings.IndexFunc(operation, unicode.IsSpace); end >= 0 {
		operation, body = operation[:end], operation[end:]
	}
	switch {
	case json.Valid([]byte(body)):
		q, err = api.DecodeExplain(operation, []byte(body))
	case isStatement(operation):
		q = &api.Explain{Statement: &api.ExecuteStatement{Statement: api.Statement{Text: text}}}
	default:
		err = exception.Invalid("the request has no JSON")
	}
	if err != nil {
		return nil, "", err
	}
	if q.Statement != nil {
		s, err := partiql.Parse(q.Statement.Text, q.Statement.Parameters)
		if err != nil {
			return nil, "", err
		}
		return q, strings.Clone(api.TableName(s.Table())), nil
	}
	q.Asked.EachTable(func(name string) {
		if table == "" {
			table = strings.Clone(api.TableName(name))
		}
	})
	return q, table, nil
}

// isStatement reports whether a word begins a PartiQL statement.
func isStatement(word string) bool {
	return slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE"}, strings.ToUpper(word))
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
	for _, text := range out.Becomes {
		fmt.Fprintf(std.out, "becomes %s\n", text)
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
