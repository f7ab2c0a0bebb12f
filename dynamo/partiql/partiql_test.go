// SPDX-License-Identifier: Apache-2.0

package partiql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

func table() *schema.Table {
	return &schema.Table{
		Name: "Tab", Key: schema.Key{Hash: []string{"h"}, Range: []string{"r"}},
		Definitions: []schema.Definition{{Name: "h", Type: attribute.S}, {Name: "r", Type: attribute.S}},
	}
}

// drawCondition draws the text of a condition on h, r and x.
func drawCondition(t *rapid.T, depth int) string {
	value := func(label string) string {
		return "'" + rapid.SampledFrom([]string{"a", "ab", "b", "c"}).Draw(t, label) + "'"
	}
	name := rapid.SampledFrom([]string{"h", "h", "r", "r", "x"}).Draw(t, "attribute")
	most := 8
	if depth == 0 {
		most = 5
	}
	switch rapid.IntRange(0, most).Draw(t, "condition") {
	case 0, 1:
		return name + " = " + value("value")
	case 2:
		return name + rapid.SampledFrom([]string{" < ", " <= ", " > ", " >= ", " <> "}).Draw(t, "operator") + value("value")
	case 3:
		return fmt.Sprintf("%s IN [%s, %s]", name, value("first"), value("second"))
	case 4:
		low, high := value("low"), value("high")
		if low > high {
			low, high = high, low
		}
		return fmt.Sprintf("%s BETWEEN %s AND %s", name, low, high)
	case 5:
		return fmt.Sprintf("begins_with(%s, %s)", name, value("prefix"))
	case 6:
		return "NOT (" + drawCondition(t, depth-1) + ")"
	case 7:
		return "(" + drawCondition(t, depth-1) + " OR " + drawCondition(t, depth-1) + ")"
	}
	return "(" + drawCondition(t, depth-1) + " AND " + drawCondition(t, depth-1) + ")"
}

// items returns all items with a few values.
func items() (all []attribute.Item) {
	for _, h := range []string{"a", "b", "c"} {
		for _, r := range []string{"a", "ab", "abc", "b", "c", "d"} {
			for _, x := range []string{"", "a", "c"} {
				item := attribute.NewItem(attribute.Attribute{Name: "h", Value: attribute.String(h)}, attribute.Attribute{Name: "r", Value: attribute.String(r)})
				if x != "" {
					item = item.With("x", attribute.String(x))
				}
				all = append(all, item)
			}
		}
	}
	return all
}

// TestReadsGiveWhatWhereSays compares the results of a SELECT's reads with the result of its WHERE
// for each item. However a condition is split, each item that meets it comes once, and no other
// item comes.
func TestReadsGiveWhatWhereSays(t *testing.T) {
	queries := 0
	rapid.Check(t, func(t *rapid.T) {
		where := "h = 'a' AND " + drawCondition(t, 3)
		if rapid.Bool().Draw(t, "free") {
			where = drawCondition(t, 3)
		}
		text := "SELECT * FROM Tab WHERE " + where
		s, err := partiql.Parse(text, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		selection, err := s.Select(table(), false)
		if err != nil {
			return // overlapping, or too many reads
		}
		want := map[string]int{}
		for _, item := range items() {
			if holds(t, where, item) {
				want[item.String()]++
			}
		}
		got := map[string]int{}
		for i := range selection.Len() {
			for _, item := range items() {
				if !given(t, selection.Request(i, nil, 0, api.CapacityNone), item) {
					continue
				}
				if _, ok := selection.Request(i, nil, 0, api.CapacityNone).(*api.Query); ok {
					queries++
				}
				_, ok, err := selection.Show(i, item.Encode())
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					got[item.String()]++
				}
			}
		}
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("%s\nwant %v\ngot  %v", text, want, got)
		}
	})
	if queries == 0 {
		t.Error("nothing was read by a Query")
	}
}

// holds evaluates a condition by a statement whose form keeps the key out of the reads.
func holds(t *rapid.T, where string, item attribute.Item) bool {
	s, err := partiql.Parse("SELECT * FROM Tab WHERE NOT (NOT ("+where+"))", nil)
	if err != nil {
		t.Fatal(err)
	}
	selection, err := s.Select(table(), false)
	if err != nil {
		t.Fatal(err)
	}
	return selection.Request(0, nil, 0, api.CapacityNone).(*api.Scan).Filter.Match(item)
}

// given reports whether a read returns an item.
func given(t *rapid.T, q api.Request, item attribute.Item) bool {
	if q, ok := q.(*api.Scan); ok {
		return q.Filter.Match(item)
	}
	query := q.(*api.Query)
	_, k, err := query.Check(table())
	if err != nil {
		t.Fatalf("%v: %v", query.KeyCondition, err)
	}
	h, _ := item.Get("h")
	r, _ := item.Get("r")
	return h.Equal(k.Hash[0]) && k.Match([]attribute.Value{r}) && query.Filter.Match(item)
}

// TestTokensBelongToTheirStatement checks that a token is accepted only with the request that it
// came from.
func TestTokensBelongToTheirStatement(t *testing.T) {
	q := &api.ExecuteStatement{Statement: api.Statement{Text: "SELECT * FROM Tab"}}
	at := partiql.Position{Read: 2, After: attribute.NewItem(attribute.Attribute{Name: "h", Value: attribute.String("a")})}
	q.NextToken = at.Token(q)
	if got, err := partiql.ParseToken(q, 3); err != nil || got.Read != 2 || !got.After.Equal(at.After) {
		t.Errorf("got %v, %v", got, err)
	}
	refused := func(name string, q api.ExecuteStatement, reads int, message string) {
		t.Helper()
		var e *exception.Error
		if _, err := partiql.ParseToken(&q, reads); !errors.As(err, &e) || e.Kind != exception.Validation || e.Message != message {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := *q
	other.Text = "SELECT * FROM Tob"
	refused("another statement", other, 3, "NextToken does not match request")
	other = *q
	other.Consistent = true
	refused("another consistency", other, 3, "NextToken does not match request")
	refused("fewer reads", *q, 2, "Invalid NextToken")
	for i := range q.NextToken {
		spoiled := *q
		c := byte('A')
		if spoiled.NextToken[i] == c {
			c = 'B'
		}
		spoiled.NextToken = spoiled.NextToken[:i] + string(c) + spoiled.NextToken[i+1:]
		if _, err := partiql.ParseToken(&spoiled, 3); err == nil {
			t.Errorf("a token with another byte %d is taken", i)
		}
	}
}

// TestDeepAndLong checks that statements of the greatest length, nested and chained, are refused or
// read quickly.
func TestDeepAndLong(t *testing.T) {
	for _, text := range []string{
		"SELECT * FROM Tab WHERE " + strings.Repeat("(", 4000) + "a = 1" + strings.Repeat(")", 4000),
		"SELECT * FROM Tab WHERE " + strings.Repeat("NOT ", 2000) + "a = 1",
		"SELECT * FROM Tab WHERE a = 1" + strings.Repeat(" AND a=1", 1000),
		"SELECT * FROM Tab WHERE h = '1'" + strings.Repeat(" AND (r='a' OR r='b')", 300),
		"SELECT * FROM Tab WHERE " + strings.Repeat("size(", 1500) + "a" + strings.Repeat(")", 1500) + " > 1",
		"INSERT INTO Tab VALUE " + strings.Repeat("{'a':", 1600),
		"INSERT INTO Tab VALUE {'a':" + strings.Repeat("[", 8000),
		"SELECT a" + strings.Repeat("[0]", 2000) + " FROM Tab",
		"SELECT * FROM Tab WHERE a = " + strings.Repeat("-", 1) + strings.Repeat("- ", 4000) + "1",
		"UPDATE Tab SET a = 1" + strings.Repeat(", a = 1", 1000) + " WHERE h = 'a' AND r = 'b'",
	} {
		s, err := partiql.Parse(text, nil)
		if err == nil {
			switch s.Kind() {
			case partiql.Select:
				_, err = s.Select(table(), false)
			default:
				_, err = s.Write(table(), api.Write{})
			}
		}
		var e *exception.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != exception.Validation) {
			t.Errorf("%.40s…: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`SELECT a, b.c[0], "d" FROM "Tab"."ix" WHERE h = 'x' AND (r > 1 OR r IN [1, ?]) ORDER BY r DESC;`,
		`SELECT * FROM Tab WHERE NOT begins_with(a, 'x') AND size(b) > 2 AND c IS NOT MISSING AND d BETWEEN 1 AND 2e3`,
		`INSERT INTO Tab VALUE {'h':'a','r':'b','l':[1,-2.5,{'x':<<'a','b'>>}],'n':null,'t':true}`,
		`UPDATE Tab SET a = a + 1, b = list_append(b, [?]) SET c = set_add(c, <<1>>) REMOVE d.e WHERE h='a' AND r='b' RETURNING ALL NEW *`,
		`DELETE FROM Tab WHERE h='a' AND r='b' AND x = 'it''s' RETURNING ALL OLD *`,
		`EXISTS(SELECT * FROM Tab WHERE h='a' AND r='b' AND x IS NULL)`, `FROM Tab WHERE h='a' AND r='b' REMOVE x -- y`,
		`SELECT * FROM Tab WHERE h = 'a' AND (r < 'b' OR (r > 'c' AND r < 'd'))`, "'", `"`, "/*", "<<", "1e", "-",
	} {
		f.Add(s)
	}
	one := []attribute.Value{attribute.String("p")}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > api.MaxStatement {
			return
		}
		s, err := partiql.Parse(text, one)
		if err != nil {
			if s, err = partiql.Parse(text, nil); err != nil {
				return
			}
		}
		_ = s.CheckTransaction()
		_, _ = s.Action(table(), false)
		if s.Kind() != partiql.Select {
			_, _ = s.Write(table(), api.Write{})
			return
		}
		_, _, _ = s.Get(table(), "ExecuteTransaction", false)
		selection, err := s.Select(table(), false)
		if err != nil {
			return
		}
		if s.Table() != "Tab" {
			return // what is no table's name is refused as a table that is not there
		}
		for i := range selection.Len() {
			// Another store must be able to read the request.
			q := selection.Request(i, nil, 0, api.CapacityNone)
			again, _ := api.New(q.Operation())
			if err := again.Decode(new(api.Decoder), q.AppendJSON(nil)); err != nil && !strings.Contains(err.Error(), "size") {
				t.Errorf("%s\n%s\n%v", text, q.AppendJSON(nil), err)
			}
		}
	})
}
