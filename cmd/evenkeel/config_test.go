// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// A configuration file may hold every flag of serve, and nothing else.
func TestConfigHasEveryFlag(t *testing.T) {
	parser, err := kong.New(&serveCmd{})
	if err != nil {
		t.Fatal(err)
	}
	var flags, keys []string
	for _, f := range parser.Model.Flags {
		if f.Name != "config" && f.Name != "help" {
			flags = append(flags, f.Name)
		}
	}
	file := reflect.TypeFor[configFile]()
	for i := range file.NumField() {
		keys = append(keys, file.Field(i).Tag.Get("yaml"))
	}
	slices.Sort(flags)
	slices.Sort(keys)
	if !slices.Equal(flags, keys) {
		t.Errorf("serve has the flags\n%q\na configuration file has\n%q", flags, keys)
	}
}
