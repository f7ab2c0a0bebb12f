// SPDX-License-Identifier: Apache-2.0

// Package draws has the flags of rapid that tests which draw histories want otherwise.
//
// It imports nothing of this module.
package draws

import "flag"

// Defaults sets flags that the command line does not give. Only a TestMain may call it.
//
// A test against a foreign engine gives rapid.seed, so that each run draws the same:
// what that engine does in a way of its own, or this one has wrong, and no history has
// met yet, is not found by a change of something else. It is looked for with
//
//	go test PACKAGE -rapid.seed=0 -rapid.checks=2000
//
// which draws others each time.
func Defaults(values map[string]string) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(values, f.Name) })
	for name, value := range values {
		if err := flag.Set(name, value); err != nil {
			panic(err) // the package does not import rapid
		}
	}
}
