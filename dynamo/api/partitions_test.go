// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestKeyTexts(t *testing.T) {
	for _, c := range []struct {
		key  string
		want []string
	}{
		{`{"InvoiceNumber":{"S":"121212"}}`, []string{"121212"}},
		{`{"b":{"S":"a \"b\""},"a":{"N":"-7"},"c":{"B":"AAE="}}`, []string{`a "b"`, "-7", "AAE="}},
		{`{"day":{"S":""}}`, []string{""}},
		{`{}`, nil},
		{`{"a":`, []string{`{"a":`}},
		{`nonsense`, []string{"nonsense"}},
	} {
		if got := KeyTexts(json.RawMessage(c.key)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.key, got)
		}
	}
}

func FuzzKeyTexts(f *testing.F) {
	for _, s := range []string{`{"a":{"S":"x"},"b":{"N":"1"}}`, `{"a":{"L":[{"S":"x"}]}}`, `{"a":{"M":{"b":{"NULL":true}}}}`, `{`, `[]`, `"x"`, `{}{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		for _, text := range KeyTexts(key) {
			if len(text) > 8*len(key)+8 {
				t.Errorf("%q has %q", key, text)
			}
		}
	})
}
