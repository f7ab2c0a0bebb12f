// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/evenkeel/evenkeel/workbench/prices"
)

// priceList returns a store's prices in a region, from a file of prices or the built-in ones.
func priceList(file, region, store string) (*prices.List, error) {
	f := prices.Builtin()
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--prices: %w", err)
		}
		if f, err = prices.Read(text); err != nil {
			return nil, fmt.Errorf("--prices %s: %w", file, err)
		}
	}
	list, err := f.Of(store, region)
	if err != nil {
		return nil, withHint(fmt.Errorf("--region: %w", err), "--prices FILE brings others, in the form of workbench/prices/prices.yaml")
	}
	return list, nil
}
