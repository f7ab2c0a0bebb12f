// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string][]Part{
		"code":                     {{Columns: []string{"code"}}},
		" code , user ":            {{Columns: []string{"code"}}, {Columns: []string{"user"}}},
		"code,salt(user,200)":      {{Columns: []string{"code"}}, {Function: Salt, Columns: []string{"user"}, N: 200}},
		"code, SALT ( user , 1 )":  {{Columns: []string{"code"}}, {Function: Salt, Columns: []string{"user"}, N: 1}},
		"shard(a, b, 10000)":       {{Function: Shard, Columns: []string{"a", "b"}, N: 10000}},
		"code_points(title,199)":   {{Function: CodePoints, Columns: []string{"title"}, N: 199}},
		"salt":                     {{Columns: []string{"salt"}}},
		"server,hour(log_hour)":    {{Columns: []string{"server"}}, {Function: Hour, Columns: []string{"log_hour"}}},
		"Day( ts ),month(\"a,b\")": {{Function: Day, Columns: []string{"ts"}}, {Function: Month, Columns: []string{"a,b"}}},
		"minute(t),year(t)":        {{Function: Minute, Columns: []string{"t"}}, {Function: Year, Columns: []string{"t"}}},
		"day,random(200)":          {{Columns: []string{"day"}}, {Function: Random, N: 200}},
		"s,rollover( 100000 )":     {{Columns: []string{"s"}}, {Function: Rollover, N: 100000}},
		`"salt"`:                   {{Columns: []string{"salt"}}},
		"Order Date,2020":          {{Columns: []string{"Order Date"}}, {Columns: []string{"2020"}}},
		`"a,b","say ""hi""",""`:    {{Columns: []string{"a,b"}}, {Columns: []string{`say "hi"`}}, {Columns: []string{""}}},
		`salt("x (y)", 7),Straße`:  {{Function: Salt, Columns: []string{"x (y)"}, N: 7}, {Columns: []string{"Straße"}}},
		"code,salt(user,200),code": {{Columns: []string{"code"}}, {Function: Salt, Columns: []string{"user"}, N: 200}, {Columns: []string{"code"}}},
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(e.Parts, want) {
			t.Errorf("%s: %+v, want %+v", text, e.Parts, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "at character 1: a column name is missing",
		"  ":                       "a column name is missing",
		"code,":                    "at character 6: a column name is missing",
		",code":                    "at character 1: a column name is missing",
		"code)":                    "at character 5: a comma, or the end",
		"größe,hash(x,2)":          "at character 7: there is no function hash; the functions are salt(column, n)",
		"salt(user)":               "salt takes a column and a number: salt(column, 200)",
		"salt()":                   "a column name is missing",
		"salt(user,x)":             "salt takes a column",
		`salt(user,"7")`:           "salt takes a column",
		"salt(7)":                  "salt takes a column",
		"salt(a,b,7)":              "at character 8: salt takes a column",
		"hour()":                   "a column name is missing",
		"hour(a,b)":                "hour takes a column: hour(created_at)",
		"random(a,3)":              "random takes a number: random(200)",
		"random()":                 "random takes a number",
		"random(a)":                "random takes a number",
		"random(10001)":            "10001 is not from 1 to 10000",
		"rollover(0)":              "0 is not from 1 to 1000000000",
		"salt(user,0)":             "0 is not from 1 to 10000",
		"salt(user,-1)":            "-1 is not from 1 to 10000",
		"shard(user,10001)":        "at character 12: 10001 is not from 1",
		"salt(user,1e3)":           "salt takes a column",
		"salt(user,200":            "at character 14: a comma or a closing parenthesis",
		"salt(user,200))":          "at character 15: a comma, or the end",
		`"code`:                    "at character 1: the quote is not closed",
		`co"de`:                    "at character 3: a comma, or the end",
		strings.Repeat("a,", 70):   "more than 64 components",
		strings.Repeat("a", 70000): "more than 64 KB",
	} {
		e, err := Parse(text)
		var bad *SyntaxError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, %v; want %s", text, e, err, want)
		}
	}
}

func TestPrintedIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,8}`), rapid.String())
		e := &Expr{Parts: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Part {
			p := Part{Function: Function(rapid.IntRange(0, len(names)-1).Draw(t, "function"))}
			if least, _ := p.Function.columns(); least > 0 {
				p.Columns = []string{column.Draw(t, "column")}
			}
			if most := p.Function.most(); most > 0 {
				p.N = rapid.IntRange(1, most).Draw(t, "n")
			}
			if p.Function == Shard && rapid.Bool().Draw(t, "two") {
				p.Columns = append(p.Columns, column.Draw(t, "second"))
			}
			return p
		}), 1, 5).Draw(t, "parts")}
		got, err := Parse(e.String())
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%s: %+v, %v", e, got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"code", "code,salt(user,200)", `"a""b",shard(x,y,3)`, "code_points(title, 199)", "a,hour(ts),random(7),rollover(9)", "salt(", `"`, ",,", "é(1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			_ = err.Error()
			return
		}
		again, err := Parse(e.String())
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%q prints as %q: %+v, %v", text, e.String(), again, err)
		}
	})
}
