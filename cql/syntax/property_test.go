// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"errors"
	"testing"
)

// TestNestedProperties checks maps of maps. Only properties of Amazon Keyspaces may have them; for
// other properties the parser refuses them with Cassandra's text.
func TestNestedProperties(t *testing.T) {
	for text, want := range map[string]string{
		"ALTER TABLE t WITH CUSTOM_PROPERTIES={'capacity_mode':{'throughput_mode': 'PROVISIONED', 'read_capacity_units': 10}, 'ttl': {}} AND comment='x'": "ALTER TABLE t WITH custom_properties = {'capacity_mode': {'throughput_mode': 'PROVISIONED', 'read_capacity_units': 10}, 'ttl': {}} AND comment = 'x'",
		"CREATE TABLE t (k int PRIMARY KEY) WITH autoscaling_settings = {'a': {'b': {'c': {'target': 50.5, 'off': false}}}}":                              "CREATE TABLE t (k int PRIMARY KEY) WITH autoscaling_settings = {'a': {'b': {'c': {'target': 50.5, 'off': false}}}}",
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := Print(s); got != want {
			t.Errorf("%s\n%s\n%s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"ALTER TABLE t WITH caching = {'keys': {'a': 'b'}}":                   "Invalid property value: {'a': 'b'} for property: 'keys'",
		"ALTER TABLE t WITH caching = {'keys': {}}":                           "Invalid property value: {} for property: 'keys'",
		"ALTER TABLE t WITH \"CUSTOM_PROPERTIES\" = {'keys': {'a': 1}}":       "Invalid property value: {'a': 1} for property: 'keys'",
		"ALTER TABLE t WITH custom_properties = {'a': {'b': ?}}":              "Invalid property value: ? for property: 'b' (bind variables are not supported in DDL queries)",
		"ALTER TABLE t WITH custom_properties = {'a': {'b': {1, 2}}}":         "Invalid property value: {1, 2} for property: 'b'",
		"ALTER TABLE t WITH custom_properties = {'a': {'b': 1, 'b': 2}}":      "Multiple definition for property b",
		"ALTER TABLE t WITH custom_properties = {'a': {'b': 1}, 'a': 'x'}":    "Multiple definition for property a",
		"ALTER TABLE t WITH custom_properties = {'a': {['b']: 1}}":            "Invalid property name: ['b']",
		"ALTER TABLE t WITH custom_properties = {} AND custom_properties={};": "Multiple definitions for property 'custom_properties'",
	} {
		_, err := Parse(text)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Message != want {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
}
