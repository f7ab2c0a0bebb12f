// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/pictures FOLDER")
		os.Exit(2)
	}
	for name, p := range pictures {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), p.svg(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
