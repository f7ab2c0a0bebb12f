// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

func TestReads(t *testing.T) {
	values := attribute.NewItem(attribute.Attribute{Name: ":v", Value: attribute.String("v")}, attribute.Attribute{Name: ":n", Value: attribute.Int(1)})
	for text, want := range map[string]bool{
		"attribute_exists(pk)":                                 false,
		"attribute_not_exists(pk) AND a = :v":                  false,
		"NOT (a = :v OR pk = :v)":                              true,
		"a = :v AND attribute_exists(pk) AND size(pk) > :n":    true,
		"a IN (:v, pk)":                                        true,
		"a BETWEEN pk AND :v":                                  true,
		"begins_with(pk, :v)":                                  true,
		"contains(a, pk)":                                      true,
		"attribute_type(pk, :t)":                               true,
		"pk2 = :v":                                             false,
		"SET a = :v, b = :n":                                   false,
		"SET a = pk":                                           true,
		"SET a = if_not_exists(pk, :v)":                        true,
		"SET a = if_not_exists(b, pk)":                         true,
		"SET a = if_not_exists(a, :n) + if_not_exists(pk, :n)": true,
		"REMOVE a":                                             false,
		"ADD a :n":                                             false,
	} {
		p, err := NewPlaceholders(nil, values.With(":t", attribute.String("S")))
		if err != nil {
			t.Fatal(err)
		}
		got := false
		if u, err := p.Update(text); err == nil {
			got = u.Reads("pk")
		} else if c, err := p.Condition(ConditionExpression, text); err == nil {
			got = c.Reads("pk")
		} else {
			t.Fatalf("%s: %v", text, err)
		}
		if got != want {
			t.Errorf("%s reads pk: %v", text, got)
		}
	}
}
