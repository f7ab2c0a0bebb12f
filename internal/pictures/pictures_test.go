// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The pictures name packages that are there, and docs has what this command draws.
func TestPictures(t *testing.T) {
	root := filepath.Join("..", "..")
	for name, p := range pictures {
		for _, b := range p.boxes {
			for _, pkg := range b.packages {
				if _, err := os.Stat(filepath.Join(root, pkg)); err != nil {
					t.Errorf("%s names a package that is not in the tree: %v", name, err)
				}
			}
		}
		got, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, p.svg()) {
			t.Errorf("docs/%s is not what go run ./internal/pictures docs draws", name)
		}
	}
}
