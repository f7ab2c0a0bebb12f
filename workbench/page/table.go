// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// table is a live table of any store.
type table interface {
	name() string // in statements
	rows(ctx context.Context, part float64) (in profile.Input, done func(), err error)
	close()
}

// openTable connects.
func openTable(ctx context.Context, at place) (table, error) {
	address := strings.TrimSpace(at.Address)
	if livedynamo.Is(address) {
		a, err := livedynamo.Parse(address)
		if err != nil {
			return nil, err
		}
		t, err := livedynamo.Open(ctx, a, livedynamo.Options{})
		if err != nil {
			return nil, err
		}
		return dynamoTable{t}, nil
	}
	a, err := live.Parse(address)
	if err != nil {
		return nil, err
	}
	o := live.Options{Password: at.Password}
	if at.TLS {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t, err := live.Open(ctx, a, o)
	if err != nil {
		return nil, err
	}
	return cqlTable{t}, nil
}

type cqlTable struct{ t *live.Table }

func (c cqlTable) name() string { return c.t.Address().Keyspace + "." + c.t.Address().Table }
func (c cqlTable) close()       { c.t.Close() }

func (c cqlTable) rows(_ context.Context, part float64) (profile.Input, func(), error) {
	in := c.t.Rows(live.RowsOptions{Fraction: part, Seed: 1})
	return in, func() { _ = in.Close() }, nil // it was only read
}

type dynamoTable struct{ t *livedynamo.Table }

func (d dynamoTable) name() string { return d.t.Table().Name }
func (d dynamoTable) close()       { d.t.Close() }

// A user who presses a button does not see the cost first. Larger readings are for the command
// line, which shows the cost first.
const (
	manyItems = 1_000_000
	manyBytes = 1 << 30
)

func (d dynamoTable) rows(ctx context.Context, part float64) (profile.Input, func(), error) {
	t := d.t.Table()
	of := part
	if of == 0 {
		of = 1
	}
	if items, bytes := of*float64(t.Items), of*float64(t.Bytes); items > manyItems || bytes > manyBytes {
		return nil, nil, &hinted{fmt.Errorf("table %s: %.0f items, %.1f GB, are much to read, and AWS bills it", t.Name, items, bytes/(1<<30)), "say a part to read, such as 0.01; evenkeel advise says first what it takes, and reads more with --yes"}
	}
	// The rows outlive the request: the next one uses them for a comparison.
	in, done, err := d.t.Rows(context.WithoutCancel(ctx), livedynamo.RowsOptions{Fraction: part, Seed: 1})
	return in, done, err
}
