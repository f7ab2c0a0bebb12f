// SPDX-License-Identifier: Apache-2.0

// Package draws sets flags of rapid for tests that draw histories.
//
// It imports nothing of this module.
package draws

import "flag"

// Defaults sets flags that the command line does not give. Only a TestMain may call it.
//
// A test against a foreign engine sets rapid.seed, so that each run draws the same histories. Such
// engines have their own behaviour, and this one may have errors, that no history has met yet. A
// change of something else must not reveal them. To look for them, use
//
//	go test PACKAGE -rapid.seed=0 -rapid.checks=2000
//
// which draws other histories each time.
func Defaults(values map[string]string) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(values, f.Name) })
	for name, value := range values {
		if err := flag.Set(name, value); err != nil {
			panic(err) // the package does not import rapid
		}
	}
}
