// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// connections is the number of clients that send concurrently.
const connections = 32

// arm is one server and table of a comparison.
type arm struct {
	name    string
	server  *measure.Process
	table   string
	backend *measure.Process // the store behind it; nil: none
}

// operation is one kind of request on a table.
type operation struct {
	name  string
	api   string
	body  func(table string, i, items int) string
	count int // items in the answer; 0: it has none to count
}

var all = []operation{
	{name: "PutItem of 1 KB", api: "PutItem", body: func(table string, i, items int) string {
		return `{"TableName":"` + table + `","Item":` + string(appendItem(nil, hot, i*7919%items)) + `}`
	}},
	{name: "GetItem", api: "GetItem", body: func(table string, i, items int) string {
		return `{"TableName":"` + table + `","Key":` + key(i*7919%items) + `}`
	}},
	{name: "UpdateItem", api: "UpdateItem", body: func(table string, i, items int) string {
		return `{"TableName":"` + table + `","Key":` + key(i*7919%items) +
			`,"UpdateExpression":"SET Amount = Amount + :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`
	}},
	query(10),
	query(100),
}

func key(i int) string {
	return `{"InvoiceNumber":{"S":"` + hot + `"},"ClientTransactionid":{"S":"` + sortKey(i) + `"}}`
}

// query reads a number of items, starting in the first half of the invoice, in the order of its
// sort key.
func query(limit int) operation {
	return operation{name: fmt.Sprintf("Query of %d items", limit), api: "Query", count: limit, body: func(table string, i, items int) string {
		return fmt.Sprintf(`{"TableName":"%s","Limit":%d,"KeyConditionExpression":"InvoiceNumber = :k AND ClientTransactionid >= :c",`+
			`"ExpressionAttributeValues":{":k":{"S":"%s"},":c":{"S":"Client%03d"}}}`, table, limit, hot, i*7919%250)
	}}
}

// check returns an error if an answer is not the requested one.
func (o operation) check(answer []byte) error {
	if o.api == "GetItem" && !bytes.Contains(answer, []byte(`"Item"`)) {
		return fmt.Errorf("there is no item")
	}
	if o.count > 0 && !bytes.Contains(answer, fmt.Appendf(nil, `"Count":%d,`, o.count)) {
		return fmt.Errorf("there are not %d items", o.count)
	}
	return nil
}

// operations compares the embedded engine with its peers.
func (b *bench) operations(ctx context.Context) error {
	var arms []arm
	for _, p := range b.peers {
		arms = append(arms, arm{name: p.Name, server: p, table: tableOf(0)})
	}
	for _, n := range layouts {
		name := "evenkeel"
		if n > 0 {
			name = fmt.Sprintf("evenkeel, N = %d", n)
		}
		arms = append(arms, arm{name: name, server: b.embedded, table: tableOf(n)})
	}
	for _, o := range all {
		if err := b.compare(ctx, o, arms); err != nil {
			return err
		}
	}
	return nil
}

// compare measures an operation on all arms, in interleaved rounds.
func (b *bench) compare(ctx context.Context, o operation, arms []arm) error {
	measure.Progress("%s", o.name)
	samples, err := measure.Rounds(ctx, b.rounds, len(arms), func(i int) (measure.Sample, error) {
		a := arms[i]
		own, backend := measure.CPU(a.server.PID), a.backendCPU()
		s, err := drive(a.server.Addr, connections, b.length, o.api, func(i int) string { return o.body(a.table, i, b.items) }, o.check)
		if err != nil {
			return s, fmt.Errorf("%s: %w", a.name, err)
		}
		s.CPU, s.Backend = measure.CPU(a.server.PID)-own, a.backendCPU()-backend
		return s, nil
	})
	if err != nil {
		return err
	}
	for i, a := range arms {
		b.report.add(fmt.Sprintf("%s, %d connections", o.name, connections), a.name, samples[i])
	}
	return nil
}
