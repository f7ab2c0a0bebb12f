// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/report"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// tableFlags say how much of a live table is read as rows.
type tableFlags struct {
	Sample float64 `placeholder:"PART" help:"Read only this part of a live table, such as 0.01, in pieces from all over its tokens."`
	Yes    bool    `help:"Allow reads of more than a million items of DynamoDB, a gigabyte, or a dollar's worth."`
}

func (f *tableFlags) check(live bool) error {
	if f.Sample < 0 || f.Sample > 1 || f.Sample != f.Sample {
		return fmt.Errorf("--sample: %v is not a part of the table: give a number above 0, up to 1", f.Sample)
	}
	if !live && (f.Sample > 0 || f.Yes) {
		return fmt.Errorf("--sample and --yes are for live tables: cql://host/keyspace.table, dynamodb://us-east-1/table")
	}
	return nil
}

// openDynamoDB opens a DynamoDB table as rows. It first prints what reading will cost and, if
// that is much, asks the user to confirm.
func (f *tableFlags) openDynamoDB(ctx context.Context, errs io.Writer, address string, list *prices.List) (*rows.Source, func(), error) {
	at, err := livedynamo.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	t, err := livedynamo.Open(ctx, at, livedynamo.Options{})
	if err != nil {
		return nil, nil, err
	}
	d := t.Table()
	size := inspection.Size{Rows: float64(d.Items), From: "what the table says of itself, which AWS renews every six hours"}
	if d.Items > 0 {
		size.RowBytes = float64(d.Bytes) / float64(d.Items)
	}
	if at.Endpoint != "" {
		list = nil // a local endpoint bills nothing
	} else if list == nil || list.Region != at.Region {
		list, _ = prices.Builtin().Of("dynamodb", at.Region) // without a price list, the cost is given in units
	}
	fraction := f.Sample
	if fraction == 0 {
		fraction = 1
	}
	p := inspection.Predict(size, fraction, max(1, int(fraction)), inspection.Page(size.RowBytes), 0, list)
	p.Scan(t.Units())
	fmt.Fprintln(errs, "evenkeel: "+report.PredictionText(p, fraction, false, false))
	if above := p.Above(); above != "" && !f.Yes {
		return nil, nil, withHint(fmt.Errorf("%s: that is much: %s", at, above), "--yes reads it; --sample %.2g reads less", inspection.Fraction(size, list))
	}
	return t.Rows(ctx, livedynamo.RowsOptions{Fraction: f.Sample, Seed: 1})
}
