// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/reshard"
)

type reshardPlanCmd struct {
	reshardTable
	reshardTarget
	Spare  int    `default:"1000" placeholder:"UNITS" help:"How many write units a second the table can spare for the change (${default}). Only for DynamoDB."`
	Prices string `placeholder:"FILE" help:"Prices in place of the built-in ones, in the same form (workbench/prices/prices.yaml)."`
	Region string `default:"us-east-1" help:"Whose prices (${default})."`
}

// outlook is a reshard.Outlook, with the cost of the change if the store bills requests.
type outlook struct {
	reshard.Outlook
	Cost *outlookCost `json:"cost,omitempty"`
}

// outlookCost is the cost of a change, and its duration at a given rate.
type outlookCost struct {
	Amount     float64 `json:"amount"`
	Currency   string  `json:"currency"`
	Region     string  `json:"region"`
	Date       string  `json:"date"` // date of the price list
	SpareUnits int     `json:"spare_write_units"`
	Seconds    float64 `json:"seconds"` // duration at the given number of write units a second
}

// cost computes the cost of the read and write units that a change takes.
func (c *reshardPlanCmd) cost(o *reshard.Outlook) (*outlookCost, error) {
	if o.WriteUnits == 0 && o.ReadUnits == 0 {
		return nil, nil
	}
	if c.Spare < 1 {
		return nil, errors.New("--spare must be 1 or more write units a second")
	}
	list, err := priceList(c.Prices, c.Region, "dynamodb")
	if err != nil {
		return nil, err
	}
	return &outlookCost{
		Amount:   (o.WriteUnits*list.MillionWriteUnits + o.ReadUnits*list.MillionReadUnits) / 1e6,
		Currency: list.Currency, Region: list.Region, Date: list.Date,
		SpareUnits: c.Spare, Seconds: o.WriteUnits / float64(c.Spare),
	}, nil
}

// Run prints the outlook.
func (c *reshardPlanCmd) Run(std *stdio) error {
	to, err := c.target()
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, door reshard.Changer) error {
		o, err := door.Plan(ctx, to)
		if err != nil {
			return err
		}
		cost, err := c.cost(&o)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std, outlook{o, cost})
		}
		fmt.Fprint(std.out, outlookText(&o, cost))
		return nil
	})
}

// outlookText describes an outlook in words.
func outlookText(o *reshard.Outlook, cost *outlookCost) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s to %s; about %.0f of %d rows move", o.Table, layoutText(o.From, o.FromLayout), layoutText(o.To, o.ToLayout), o.RowsMoved, o.Rows)
	if o.BytesMoved > 0 {
		fmt.Fprintf(&b, ", %d bytes", o.BytesMoved)
	}
	b.WriteByte('\n')
	if cost != nil {
		fmt.Fprintf(&b, "about %d requests, %.0f write units and %.0f read units: %.2f %s on demand (%s, prices of %s)\n",
			o.Requests, o.WriteUnits, o.ReadUnits, cost.Amount, cost.Currency, cost.Region, cost.Date)
		fmt.Fprintf(&b, "at %d spare write units a second: about %v, and the waits between the steps\n",
			cost.SpareUnits, time.Duration(cost.Seconds*float64(time.Second)).Round(time.Second))
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	for _, r := range o.Refused {
		fmt.Fprintf(&b, "refused: %s\n", r)
	}
	return b.String()
}
