// SPDX-License-Identifier: Apache-2.0

package partiql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/partiql"
)

func outlineText(o *partiql.Outline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", o.Kind, o.Table)
	if o.Index != "" {
		fmt.Fprintf(&b, ".%s", o.Index)
	}
	for _, n := range o.Names {
		fmt.Fprintf(&b, " %s", n)
	}
	for _, x := range o.Bounds {
		switch {
		case x.Equal > 0:
			fmt.Fprintf(&b, "; %s =%d %q", x.Name, x.Equal, x.Text)
		default:
			fmt.Fprintf(&b, "; %s %t %q..%t %q prefix %t", x.Name, x.Low, x.LowText, x.High, x.HighText, x.Prefix)
		}
	}
	if o.Others != nil {
		fmt.Fprintf(&b, "; others %s", strings.Join(o.Others, " "))
	}
	for _, x := range o.Order {
		fmt.Fprintf(&b, "; by %s %t", x.Name, x.Desc)
	}
	return b.String()
}

func TestOutlined(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT * FROM "Music" WHERE Artist = ? AND SongTitle BETWEEN ? AND 'z'`:                      `0 Music; Artist =1 ""; SongTitle true ""..true "z" prefix false`,
		`SELECT a, b.c FROM Music."by-year" WHERE 2000 <= y AND y < ? ORDER BY y DESC;`:               `0 Music.by-year a b; y true "2000"..true "" prefix false; by y true`,
		`SELECT * FROM t WHERE a IN ['x', ?, 'z'] AND begins_with(b, ?)`:                              `0 t; a =3 ""; b true ""..true "" prefix true`,
		`SELECT * FROM t WHERE (a = 1 OR a = 2 AND b = 3) AND NOT c = 4 AND contains(d, ?)`:           `0 t; a =2 ""; others b c d`,
		`SELECT * FROM t WHERE a = 1 AND (size(b) > 3 OR attribute_exists(c)) AND d.e = ? AND f <> 2`: `0 t; a =1 "1"; others b c d f`,
		`INSERT INTO "t" VALUE {'pk': ?, 'b': [1, 2], 'c': {'d': 'e'}}`:                               `1 t b c pk`,
		`UPDATE "t" SET a = a + ? SET s = set_add(s, ?) REMOVE b.c WHERE pk = ? AND sk = 'x'`:         `2 t a s b; pk =1 ""; sk =1 "x"`,
		`DELETE FROM t WHERE pk = ?`:                                                          `3 t; pk =1 ""`,
		`EXISTS(SELECT * FROM t WHERE pk = ? AND v IS MISSING)`:                               `4 t; pk =1 ""; others v`,
		`SELECT value, end FROM t WHERE group = ? AND order BETWEEN ? AND ? AND limit IN [1]`: `0 t value end; group =1 ""; order true ""..true "" prefix false; limit =1 "1"`,
		`UPDATE t SET set = ? REMOVE value WHERE left = ?`:                                    `2 t set value; left =1 ""`,
		`SELECT * FROM t`: `0 t`,
		`SELECT * FROM t WHERE a = 1 AND a IN [1, 2] AND a > 0`: `0 t; a =1 "1"; a true "0"..false "" prefix false`,
	} {
		o, err := partiql.Outlined(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := outlineText(o); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`SELECT * FROM t WHERE`:                     "21",
		`SELECT * FROM t WHERE a = ? LIMIT 3`:       "28",
		`INSERT INTO t VALUE {"a": 1}`:              "21",
		`SELECT * FROM t WHERE a = 'x`:              "26",
		`SELECT * FROM t WHERE a LIKE 'x'`:          "24",
		`UPDATE t WHERE a = 1`:                      "9",
		`SELECT a, FROM t`:                          "10",
		`SELECT a FROM t WHERE a = 1 AND AND b = 1`: "32",
		`DELETE t WHERE a = 1`:                      "7",
	} {
		_, err := partiql.Outlined(text)
		var bad *partiql.Malformed
		if !errors.As(err, &bad) || fmt.Sprint(bad.Offset) != want || bad.Error() == "" {
			t.Errorf("%s: %#v, want an error at %s", text, err, want)
		}
	}
}

// TestBoundsHold draws conditions. What an outline says about an attribute must hold for each item
// that meets the condition.
func TestBoundsHold(t *testing.T) {
	bound := 0
	rapid.Check(t, func(t *rapid.T) {
		where := drawCondition(t, 3)
		o, err := partiql.Outlined("SELECT * FROM Tab WHERE " + where)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		values := make(map[string]map[string]bool)
		for _, item := range items() {
			if !holds(t, where, item) {
				continue
			}
			for _, b := range o.Bounds {
				v, ok := item.Get(b.Name)
				text := v.Text()
				switch {
				case !ok,
					b.Equal == 1 && text != b.Text,
					b.Equal == 0 && !b.Prefix && b.Low && text < b.LowText,
					b.Equal == 0 && !b.Prefix && b.High && text > b.HighText:
					t.Fatalf("%s: %+v does not hold for %s", where, b, item)
				}
				if b.Equal > 0 {
					bound++
					if values[b.Name] == nil {
						values[b.Name] = make(map[string]bool)
					}
					if values[b.Name][text] = true; len(values[b.Name]) > b.Equal {
						t.Fatalf("%s: %s has more than %d values", where, b.Name, b.Equal)
					}
				}
			}
		}
	})
	if bound == 0 {
		t.Error("no attribute was ever bound")
	}
}

func FuzzOutlined(f *testing.F) {
	for _, s := range []string{
		`SELECT * FROM "t" WHERE a = ? AND b BETWEEN ? AND ?`, `INSERT INTO "t" VALUE {'a': ?}`, `UPDATE t SET a = ? WHERE b = ?`, `DELETE FROM t WHERE a IN [1, ?]`, `EXISTS(SELECT * FROM t)`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 8192 {
			return
		}
		_, err := partiql.Outlined(text)
		var bad *partiql.Malformed
		if err != nil && (!errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text)) {
			t.Fatalf("%q: %v", text, err)
		}
		if _, whole := partiql.Parse(text, nil); whole == nil && err != nil {
			t.Fatalf("%q is a statement, and has no outline: %v", text, err)
		}
	})
}
