// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

const adoptable = `{"TableName":"Inv","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST"}`

// FuzzParseAdoption checks that a parsed tag is written and parsed back to the same.
func FuzzParseAdoption(f *testing.F) {
	for _, s := range []string{
		"adopt=suffix shards=5", "adopt=suffix strategy=random shards=200 write-once separator=. first=0", "adopt=suffix shards=7 hash=code_points suffixed=allow separator=U+0020", "adopt=suffix shards=5 separator==",
		"adopt=prefix shards=5", "adopt=prefix shards=7 prefixed=allow separator=U+0023", "adopt=prefix strategy=random shards=3 write-once first=0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := plan.ParseAdoption("Inv", text)
		if err != nil {
			return
		}
		again, err := plan.ParseAdoption("Inv", a.String())
		if err != nil || again.String() != a.String() || *again.Affix != *a.Affix || !again.Layout.Equal(a.Layout) {
			t.Fatalf("%q is written %q: %v", text, a, err)
		}
	})
}

// FuzzShowAdopted checks that an item of an adopted table is shown with its logical partition key
// and otherwise unchanged, however the store has written it.
func FuzzShowAdopted(f *testing.F) {
	for _, s := range []string{
		`{"k":{"S":"121212-3"},"r":{"S":"a"}}`, `{ "r" : {"S":"a"}, "k" : { "S" : "121212\u002d3" } , "x":{"M":{"k":{"S":"a-1"}}}}`, `{"k":{"S":"a-1-2"}}`,
		`{"k":{"S":"a-6"}}`, `{"k":{"S":"-1"}}`, `{"k":{"N":"1"}}`, `{"k":{"S":"ü\"-5"}}`, `{"a":{"S":"x"}}`, `{}`,
		`{"k":{"S":"3-121212"},"r":{"S":"a"}}`, `{ "r" : {"S":"a"}, "k" : { "S" : "3\u002d121212" } , "x":{"M":{"k":{"S":"1-a"}}}}`, `{"k":{"S":"2-1-a"}}`, `{"k":{"S":"5-ü\""}}`, `{"k":{"S":"1-"}}`,
	} {
		f.Add(s)
	}
	get := &api.GetItem{Table: "Inv", Key: attribute.NewItem(attribute.Attribute{Name: "k", Value: attribute.String("a")}, attribute.Attribute{Name: "r", Value: attribute.String("b")})}
	plans := make(map[string]*plan.Direct)
	for _, how := range []string{"suffix", "prefix"} {
		table, _, err := adopt(f, adoptable, "adopt="+how+" shards=5")
		if err != nil {
			f.Fatal(err)
		}
		p, err := plan.Make(get, func(string) *plan.Table { return table })
		if err != nil {
			f.Fatal(err)
		}
		plans[how] = p.(*plan.Direct)
	}
	number := func(text string) bool { return len(text) == 1 && strings.Contains("12345", text) }
	f.Fuzz(func(t *testing.T, text string) {
		stored, err := new(attribute.Decoder).Item(attribute.Encoded(text))
		if err != nil {
			return
		}
		for how, p := range plans {
			want := stored
			if v, ok := stored.Get("k"); ok && v.Kind() == attribute.S {
				if i := strings.LastIndexByte(v.Text(), '-'); how == "suffix" && i > 0 && number(v.Text()[i+1:]) {
					want = stored.With("k", attribute.String(strings.Clone(v.Text()[:i])))
				}
				if at, key, ok := strings.Cut(v.Text(), "-"); how == "prefix" && ok && number(at) && key != "" {
					want = stored.With("k", attribute.String(strings.Clone(key)))
				}
			}
			expected := string(want.Encode())
			a, err := p.Answer(&api.ItemResponse{Item: attribute.Encoded(strings.Clone(text))})
			if err != nil {
				t.Fatal(err)
			}
			got, err := new(attribute.Decoder).Item(a.(*api.ItemResponse).Item)
			if err != nil || string(got.Encode()) != expected {
				t.Fatalf("%s, %s: shown as %s (%v), not %s", how, text, a.(*api.ItemResponse).Item, err, expected)
			}
		}
	})
}
