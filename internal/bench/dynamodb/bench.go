// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// bench holds the measured servers and the measurements.
type bench struct {
	options
	report report

	embedded *measure.Process
	peers    []*measure.Process // dynalite, and dynoxide if it is given
	started  []*measure.Process
}

// layouts are the measured numbers of shards; 0: a plain table.
var layouts = []int{0, 1, 5, 50}

// hot is the one invoice to which all items belong.
const hot = "121212"

// tableOf returns the table of a layout.
func tableOf(n int) string {
	if n == 0 {
		return "Plain"
	}
	return fmt.Sprintf("Sharded%d", n)
}

// byHandOf returns the plain table whose keys the application salts itself.
func byHandOf(n int) string { return fmt.Sprintf("ByHand%d", n) }

// sortKey returns the i-th transaction of the invoice.
func sortKey(i int) string { return fmt.Sprintf("Client%03d#%08d", i%500, i) }

// filler fills an item to one kilobyte, as DynamoDB counts.
var filler = strings.Repeat("A line of an invoice. ", 43)[:940]

func (b *bench) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "evenkeel-bench")
	if err != nil {
		return err
	}
	b.embedded, err = b.launch(ctx, "evenkeel", b.Evenkeel, func(addr string) []string {
		return []string{"serve", "--listen-dynamodb", addr, "--listen-cql", "off", "--listen-http", "off", "--data", dir}
	})
	if err != nil {
		return err
	}
	b.embedded.Dir = dir
	if b.dynalite != "" {
		p, err := b.launch(ctx, "dynalite", "node", func(addr string) []string {
			host, port, _ := strings.Cut(addr, ":")
			return []string{b.dynalite, "--host", host, "--port", port, "--createTableMs", "0"}
		})
		if err != nil {
			return err
		}
		b.peers = append(b.peers, p)
	}
	if b.dynoxide != "" {
		p, err := b.launch(ctx, "dynoxide", b.dynoxide, func(addr string) []string {
			host, port, _ := strings.Cut(addr, ":")
			return []string{"--host", host, "--port", port}
		})
		if err != nil {
			return err
		}
		b.peers = append(b.peers, p)
	}
	measure.Progress("loading %d items into each table", b.items)
	for _, n := range layouts {
		if err := b.load(ctx, b.embedded.Addr, tableOf(n), n, func(int) string { return hot }); err != nil {
			return err
		}
		if n > 1 {
			salted := func(i int) string { return fmt.Sprintf("%s-%d", hot, i%n+1) }
			if err := b.load(ctx, b.embedded.Addr, byHandOf(n), 0, salted); err != nil {
				return err
			}
		}
	}
	for _, p := range b.peers {
		if err := b.load(ctx, p.Addr, tableOf(0), 0, func(int) string { return hot }); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// launch starts a server that stops with the benchmark.
func (b *bench) launch(ctx context.Context, name, binary string, args func(addr string) []string) (*measure.Process, error) {
	addr, err := measure.FreeAddr()
	if err != nil {
		return nil, err
	}
	p, err := measure.Launch(ctx, name, addr, binary, args(addr)...)
	if err == nil {
		b.started = append(b.started, p)
	}
	return p, err
}

func (b *bench) close() {
	for _, p := range b.started {
		p.Stop()
	}
}

// load creates a table with a number of shards, and fills it.
func (b *bench) load(ctx context.Context, addr, table string, shards int, key func(i int) string) error {
	tags := ""
	if shards > 0 {
		tags = fmt.Sprintf(`,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=%d"}]`, shards)
	}
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.close()
	err = c.call("CreateTable", `{"TableName":"`+table+`","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"InvoiceNumber","AttributeType":"S"},{"AttributeName":"ClientTransactionid","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"InvoiceNumber","KeyType":"HASH"},{"AttributeName":"ClientTransactionid","KeyType":"RANGE"}]`+tags+`}`)
	if err != nil {
		return err
	}
	var next atomic.Int64
	fillers, ctx := errgroup.WithContext(ctx)
	for range 8 {
		fillers.Go(func() error { return b.fill(ctx, addr, table, &next, key) })
	}
	return fillers.Wait()
}

// fill puts items in batches, from the next one on.
func (b *bench) fill(ctx context.Context, addr, table string, next *atomic.Int64, key func(i int) string) error {
	const batch = 25
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.close()
	for ctx.Err() == nil {
		from := int(next.Add(batch)) - batch
		if from >= b.items {
			return nil
		}
		var puts []string
		for i := from; i < min(from+batch, b.items); i++ {
			puts = append(puts, `{"PutRequest":{"Item":`+string(appendItem(nil, key(i), i))+`}}`)
		}
		if err := c.call("BatchWriteItem", `{"RequestItems":{"`+table+`":[`+strings.Join(puts, ",")+`]}}`); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func appendItem(dst []byte, key string, i int) []byte {
	return fmt.Appendf(dst, `{"InvoiceNumber":{"S":"%s"},"ClientTransactionid":{"S":"%s"},"Amount":{"N":"%d"},"Text":{"S":"%s"}}`, key, sortKey(i), i, filler)
}
