// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// known holds the placeholders that scripts may use. Each expression gets those that it names.
var known = map[string]string{
	":a": `{"S":"a"}`, ":b": `{"S":"b"}`, ":n": `{"N":"1"}`, ":m": `{"N":"2"}`, ":l": `{"L":[]}`, ":l1": `{"L":[{"N":"9"}]}`,
	":ss": `{"SS":["x"]}`, ":ss2": `{"SS":["x","y"]}`, ":ns": `{"NS":["1","3"]}`, ":bs": `{"BS":["YQ=="]}`,
	":bo": `{"BOOL":true}`, ":nu": `{"NULL":true}`, ":ma": `{"M":{"k":{"S":"v"}}}`, ":bi": `{"B":"YQ=="}`, ":t": `{"S":"NS"}`, ":big": `{"N":"9.9e125"}`,
	"#a": "a", "#b": "b", "#size": "size", "#dot": "x.y", "#abort": "abort",
}

var placeholder = regexp.MustCompile(`[:#][a-z0-9]+`)

// placeholders returns the known placeholders that a text names.
func placeholders(t testing.TB, text string) *expression.Placeholders {
	t.Helper()
	p, err := expression.NewPlaceholders(placeholderParts(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func placeholderParts(t testing.TB, text string) ([]expression.Name, attribute.Item) {
	t.Helper()
	var names []expression.Name
	var values attribute.Item
	seen := map[string]bool{}
	for _, p := range placeholder.FindAllString(text, -1) {
		what, ok := known[p]
		if !ok || seen[p] {
			continue
		}
		seen[p] = true
		if p[0] == '#' {
			names = append(names, expression.Name{Placeholder: p, Attribute: what})
			continue
		}
		var d attribute.Decoder
		v, err := d.Value([]byte(what))
		if err != nil {
			t.Fatal(err)
		}
		values = values.With(p, v)
	}
	return names, values
}

func item(t testing.TB, src string) attribute.Item {
	t.Helper()
	var d attribute.Decoder
	it, err := d.Item([]byte(src))
	if err == nil {
		err = it.Validate()
	}
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return it
}

// parse parses an expression of any kind.
func parse(p *expression.Placeholders, parameter expression.Parameter, text string) (fmt.Stringer, error) {
	switch parameter {
	case expression.KeyConditionExpression:
		return p.KeyCondition(text)
	case expression.ProjectionExpression:
		return p.Projection(text)
	case expression.UpdateExpression:
		return p.Update(text)
	}
	return p.Condition(parameter, text)
}

var parameterOf = map[string]expression.Parameter{
	"filter": expression.FilterExpression, "condition": expression.ConditionExpression, "key": expression.KeyConditionExpression,
	"projection": expression.ProjectionExpression, "update": expression.UpdateExpression,
}

// Each line is an expression. The output is the parsed expression, or AWS's error.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				text := strings.TrimSuffix(line, "\n")
				e, err := parse(placeholders(t, text), parameterOf[d.Cmd], text)
				if err != nil {
					fmt.Fprintln(&out, exception.Of(err).Message)
				} else {
					fmt.Fprintln(&out, e)
				}
			}
			return out.String()
		})
	})
}

// The first line is an item, the others are conditions on it.
func TestMatch(t *testing.T) {
	datadriven.RunTest(t, "testdata/match", func(t *testing.T, d *datadriven.TestData) string {
		src, conditions, _ := strings.Cut(d.Input, "\n")
		it := item(t, src)
		var out strings.Builder
		for line := range strings.Lines(conditions) {
			text := strings.TrimSuffix(line, "\n")
			c, err := placeholders(t, text).Condition(expression.FilterExpression, text)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&out, c.Match(it))
		}
		return out.String()
	})
}

// The first line is an item, the others are updates of it. The output is the item after the update,
// UPDATED_OLD and UPDATED_NEW, or the error.
func TestUpdate(t *testing.T) {
	datadriven.RunTest(t, "testdata/apply", func(t *testing.T, d *datadriven.TestData) string {
		src, updates, _ := strings.Cut(d.Input, "\n")
		it := item(t, src)
		var out strings.Builder
		for line := range strings.Lines(updates) {
			text := strings.TrimSuffix(line, "\n")
			u, err := placeholders(t, text).Update(text)
			if err != nil {
				t.Fatal(err)
			}
			after, err := u.Apply(it)
			if err != nil {
				fmt.Fprintln(&out, exception.Of(err).Message)
				continue
			}
			if it.String() != item(t, src).String() {
				t.Fatalf("%s changed the item it was applied to", text)
			}
			fmt.Fprintf(&out, "%s\n  old %s\n  new %s\n", after, u.Changes().Apply(it), u.Changes().Apply(after))
		}
		return out.String()
	})
}

// The first line is an item, the others are projections of it.
func TestProject(t *testing.T) {
	datadriven.RunTest(t, "testdata/project", func(t *testing.T, d *datadriven.TestData) string {
		src, projections, _ := strings.Cut(d.Input, "\n")
		it := item(t, src)
		var out strings.Builder
		for line := range strings.Lines(projections) {
			text := strings.TrimSuffix(line, "\n")
			p, err := placeholders(t, text).Projection(text)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&out, p.Apply(it))
		}
		return out.String()
	})
}

// The arguments are a key schema, the lines are key conditions. The output is the key range of each
// for that schema.
func TestKeyRange(t *testing.T) {
	attributes := func(d *datadriven.TestData, name string) []expression.KeyAttribute {
		var out []expression.KeyAttribute
		for _, arg := range d.CmdArgs {
			if arg.Key != name {
				continue
			}
			for _, v := range arg.Vals {
				n, kind, _ := strings.Cut(v, ":")
				k, _ := attribute.KindOf(kind)
				out = append(out, expression.KeyAttribute{Name: n, Type: k})
			}
		}
		return out
	}
	names := func(attributes []expression.KeyAttribute) (out []string) {
		for _, a := range attributes {
			out = append(out, a.Name)
		}
		return out
	}
	datadriven.RunTest(t, "testdata/keyrange", func(t *testing.T, d *datadriven.TestData) string {
		hash, sort := attributes(d, "hash"), attributes(d, "sort")
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			text := strings.TrimSuffix(line, "\n")
			k, err := placeholders(t, text).KeyCondition(text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := k.For(hash, sort)
			if err != nil {
				fmt.Fprintln(&out, exception.Of(err).Message)
				continue
			}
			fmt.Fprintf(&out, "%v %v %d %v %v = %s\n", r.Hash, r.Prefix, r.Op, r.Low, r.High, r.Condition(names(hash), names(sort)))
		}
		return out.String()
	})
}

func TestKeyRangeMatch(t *testing.T) {
	one := func(v attribute.Value) []attribute.Value { return []attribute.Value{v} }
	s := attribute.String
	for _, c := range []struct {
		r    expression.KeyRange
		sort []attribute.Value
		want bool
	}{
		{expression.KeyRange{}, nil, true},
		{expression.KeyRange{}, one(s("x")), true},
		{expression.KeyRange{Op: expression.Equal, Low: s("x")}, one(s("x")), true},
		{expression.KeyRange{Op: expression.Equal, Low: s("x")}, one(s("y")), false},
		{expression.KeyRange{Op: expression.Less, Low: s("x")}, one(s("w")), true},
		{expression.KeyRange{Op: expression.Less, Low: s("x")}, one(s("x")), false},
		{expression.KeyRange{Op: expression.LessOrEqual, Low: s("x")}, one(s("x")), true},
		{expression.KeyRange{Op: expression.Greater, Low: s("x")}, one(s("x")), false},
		{expression.KeyRange{Op: expression.GreaterOrEqual, Low: s("x")}, one(s("x")), true},
		{expression.KeyRange{Op: expression.BeginsWith, Low: s("ab")}, one(s("abc")), true},
		{expression.KeyRange{Op: expression.BeginsWith, Low: s("ab")}, one(s("a")), false},
		{expression.KeyRange{Op: expression.Between, Low: s("a"), High: s("c")}, one(s("b")), true},
		{expression.KeyRange{Op: expression.Between, Low: s("a"), High: s("c")}, one(s("d")), false},
		{expression.KeyRange{Op: expression.Equal, Low: attribute.Int(2), Prefix: one(s("p"))}, []attribute.Value{s("p"), attribute.Int(2)}, true},
		{expression.KeyRange{Op: expression.Equal, Low: attribute.Int(2), Prefix: one(s("p"))}, []attribute.Value{s("q"), attribute.Int(2)}, false},
		{expression.KeyRange{Op: expression.Equal, Low: attribute.Int(2), Prefix: one(s("p"))}, one(s("p")), false},
	} {
		if got := c.r.Match(c.sort); got != c.want {
			t.Errorf("%+v matches %v: %v", c.r, c.sort, got)
		}
	}
}

func TestLimits(t *testing.T) {
	long := "a = :a AND " + strings.Repeat("a", 4096-len("a = :a AND  = :a")) + " = :a"
	operators := func(n int) string { // of n comparators and n-1 ANDs
		return strings.TrimSuffix(strings.Repeat("a=:a AND ", n), " AND ")
	}
	in := func(n int) string { return "a IN (" + strings.TrimSuffix(strings.Repeat("b,", n), ",") + ")" }
	for _, c := range []struct{ text, message string }{
		{"a BETWEEN :a AND a", "The first operand must be distinct from the remaining operands for this operator or function; operator: BETWEEN, first operand: [a]"},
		{"a[1] IN (:a, a[1])", "The first operand must be distinct from the remaining operands for this operator or function; operator: IN, first operand: [a, [1]]"},
		{":a BETWEEN :a AND a", ""},
		{"a = :a AND __type = :a", `Syntax error; token: "_", near: "AND __"`},
		{"a = :a AND _sortKey = :a", `Syntax error; token: "_", near: "AND _sortKey"`},
		{"a.b_c_ = :a", ""},
		{"a[10] = :a", ""},
		{"a[01] = :a", `Syntax error; token: "1", near: "01]"`},
		{long, ""},
		{long + " ", "Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{operators(150), ""},
		{operators(151), "The expression contains too many operators; operator count: 301"},
		{strings.Repeat("NOT ", 301) + "a = :a", "The expression contains too many operators; operator count: 301"},
		{in(100), ""},
		{in(101), "The IN operator is provided with too many operands; number of operands: 101"},
		{"a" + strings.Repeat(".b", 31) + " = :a", ""},
		{"a" + strings.Repeat(".b", 32) + " = :a", "The document path has too many nesting levels; nesting levels: 33"},
		{strings.Repeat("(", 2000) + "a = :a" + strings.Repeat(")", 2000), "The expression has redundant parentheses;"},
		{strings.Repeat("(", 4096), `Syntax error; token: "<EOF>", near: "("`},
		{strings.Repeat("f(", 1300) + "a" + strings.Repeat(")", 1300), "Invalid function name; function: f"},
	} {
		_, err := placeholders(t, c.text).Condition(expression.FilterExpression, c.text)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(exception.Of(err).Message, "Invalid FilterExpression: ")
		}
		if got != c.message {
			t.Errorf("%.60s… (%d bytes): %q, want %q", c.text, len(c.text), got, c.message)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	v := attribute.String("x")
	values := func(names ...string) attribute.Item {
		it := attribute.Item{}
		for _, n := range names {
			it = it.With(n, v)
		}
		return it
	}
	for _, c := range []struct {
		names         []expression.Name
		values        attribute.Item
		text, message string
	}{
		{nil, nil, "a = b", ""},
		{[]expression.Name{}, nil, "a = b", "ExpressionAttributeNames must not be empty"},
		{nil, attribute.Item{}, "a = b", "ExpressionAttributeValues must not be empty"},
		{[]expression.Name{{"a", "b"}}, nil, "a = b", `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{[]expression.Name{{"#", "b"}}, nil, "a = b", `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{nil, values("x"), "a = b", `ExpressionAttributeValues contains invalid key: Syntax error; key: "x"`},
		{nil, values(":a-b"), "a = b", `ExpressionAttributeValues contains invalid key: Syntax error; key: ":a-b"`},
		{nil, attribute.Item{{Name: ":x"}}, "a = b", "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :x"},
		{[]expression.Name{{"#a", "a"}, {"#b", "b"}}, nil, "#b = c", "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}"},
		{nil, values(":x", ":y", ":z"), "a = :y", "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x, :z}"},
		{[]expression.Name{{"#a", "a"}}, values(":x"), "#a = :x", ""},
	} {
		p, err := expression.NewPlaceholders(c.names, c.values)
		if err == nil {
			if _, err = p.Condition(expression.FilterExpression, c.text); err == nil {
				err = p.CheckUnused()
			}
		}
		got := ""
		if err != nil {
			got = exception.Of(err).Message
		}
		if got != c.message {
			t.Errorf("%v %s %q: %q, want %q", c.names, c.values, c.text, got, c.message)
		}
	}
}

func TestManyPlaceholders(t *testing.T) {
	var values attribute.Item
	text := "a IN ("
	for i := range 100 {
		name := fmt.Sprintf(":v%d", i)
		values = values.With(name, attribute.Int(int64(i)))
		if i != 77 {
			text += name + ", "
		}
	}
	p, err := expression.NewPlaceholders(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Condition(expression.FilterExpression, strings.TrimSuffix(text, ", ")+")")
	if err != nil {
		t.Fatal(err)
	}
	err = p.CheckUnused()
	if want := "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v77}"; err == nil || exception.Of(err).Message != want {
		t.Error(err)
	}
	if !c.Match(item(t, `{"a":{"N":"99"}}`)) || c.Match(item(t, `{"a":{"N":"77"}}`)) {
		t.Error("IN does not see its last value, or sees another")
	}
}

func TestReservedWords(t *testing.T) {
	for _, word := range []string{"abort", "ABORT", "Zone", "status", "sharD", "flattern", "localtimestamp"} {
		text := word + " = :a"
		_, err := placeholders(t, text).Condition(expression.FilterExpression, text)
		want := "Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: " + word
		if err == nil || exception.Of(err).Message != want {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, word := range []string{"abor", "aborts", "abort_", "pk", "zzz", "a"} {
		text := word + " = :a"
		if _, err := placeholders(t, text).Condition(expression.FilterExpression, text); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}
