// SPDX-License-Identifier: Apache-2.0

// Command pictures draws the request paths of both doors as SVG, for ARCHITECTURE.md:
//
//	go run ./internal/pictures docs
//
// A picture is a value (paths.go): boxes in columns and rows, and the arrows between
// them. A test checks that each package a picture names is in the tree, and that the
// files in docs are what this command writes.
package main
