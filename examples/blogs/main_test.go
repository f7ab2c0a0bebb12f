// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"
)

// TestDay holds day.csv to what the program prints.
func TestDay(t *testing.T) {
	want, err := os.ReadFile("day.csv")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("day.csv is not what the program prints: go run ./examples/blogs > examples/blogs/day.csv")
	}
}
