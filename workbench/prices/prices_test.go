// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"math"
	"strings"
	"testing"
)

func TestBuiltin(t *testing.T) {
	f := Builtin()
	for _, store := range []string{"dynamodb", "keyspaces"} {
		if l, err := f.Of(store, "us-east-1"); err != nil || l.Source == "" {
			t.Errorf("%s: %v, from nowhere", store, err)
		}
	}
	_, err := f.Of("dynamodb", "moon-1")
	if err == nil || !strings.Contains(err.Error(), "there are those of us-east-1") {
		t.Error(err)
	}
	if _, err := f.Of("oracle", "us-east-1"); err == nil {
		t.Error("oracle has prices")
	}
}

// TestMonth checks the vendor's own example: a million writes of 1 KB a month at $0.625, and a
// similar one for reads.
func TestMonth(t *testing.T) {
	l := &List{MillionWriteUnits: 0.625, MillionReadUnits: 0.125, GBMonth: 0.25}
	perSecond := 1e6 / monthSeconds
	if got := l.Month(perSecond, 0, 0); math.Abs(got-0.625) > 1e-9 {
		t.Error(got)
	}
	if got := l.Month(0, 2*perSecond, 4<<30); math.Abs(got-1.25) > 1e-9 {
		t.Error(got)
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"date: 2025-01-01\ncurrency: USD\nlists:\n  - store: a\n    region: b\n    write: 3", "unknown field"},
		{"date: 2025-01-01\ncurrency: USD", "lists are wanted"},
		{"date: 2025-01-01\ncurrency: USD\nlists:\n  - region: b", "names no store"},
		{"date: 2025-01-01\ncurrency: USD\nlists:\n  - {store: a, region: b, gb_month: -1}", "-1 is no price"},
		{"{", ""},
	} {
		_, err := Read([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	f, err := Read([]byte("date: 2025-01-01\ncurrency: EUR\nlists:\n  - {store: a, region: b, gb_month: 1}"))
	if err != nil || f.Lists[0].Currency != "EUR" || f.Lists[0].Date != "2025-01-01" {
		t.Error(f, err)
	}
}
