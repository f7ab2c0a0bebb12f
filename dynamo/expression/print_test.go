// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

var parameters = []expression.Parameter{
	expression.FilterExpression, expression.KeyConditionExpression, expression.ProjectionExpression, expression.UpdateExpression,
}

// printed prints an expression with placeholders, and returns the Printer, too.
func printed(e any) (string, *expression.Printer) {
	p := new(expression.Printer)
	switch e := e.(type) {
	case *expression.Condition:
		return p.Condition(e), p
	case *expression.KeyCondition:
		return p.KeyCondition(e), p
	case *expression.Projection:
		return p.Projection(e), p
	}
	return p.Update(e.(*expression.Update)), p
}

// scripts returns the expressions of the scripts.
func scripts(t testing.TB) []string {
	var texts []string
	files, err := filepath.Glob("testdata/parse/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, f := range append(files, "testdata/match", "testdata/apply", "testdata/project") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, strings.Split(string(b), "\n")...)
	}
	return texts
}

// A printed expression is parsed to an equal expression.
func FuzzParse(f *testing.F) {
	for _, text := range scripts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parameter := range parameters {
			e, err := parse(placeholders(t, text), parameter, text)
			if err != nil {
				continue
			}
			again, p := printed(e)
			if len(again) > expression.MaxSize {
				continue // placeholders can be longer than names
			}
			q, err := expression.NewPlaceholders(p.Names(), p.Values())
			if err != nil {
				t.Fatalf("%s: %q is printed with placeholders %v, %s: %v", parameter, text, p.Names(), p.Values(), err)
			}
			back, err := parse(q, parameter, again)
			if err != nil {
				t.Fatalf("%s: %q is printed as %q: %v", parameter, text, again, err)
			}
			if err := q.CheckUnused(); err != nil {
				t.Fatal(err)
			}
			if back.String() != e.String() {
				t.Fatalf("%s: %q is %s, but printed as %q it is %s", parameter, text, e, again, back)
			}
		}
	})
}

func TestMatchDoesNotAllocate(t *testing.T) {
	it := item(t, `{"a":{"S":"a"},"n":{"N":"10"},"l":{"L":[{"S":"x"}]},"ss":{"SS":["b"]}}`)
	text := "a = :a AND n > :n AND (begins_with(a, :b) OR contains(ss, :b)) AND size(l) < :m AND a IN (:b, :a) AND n BETWEEN :n AND :big AND NOT l[0] = :a"
	p := placeholders(t, text)
	c, err := p.Condition(expression.FilterExpression, text)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if !c.Match(it) {
			t.Fatal("no match")
		}
	}); n > 0 {
		t.Errorf("%v allocations to match", n)
	}
}

func TestSetAttributesBeforeAnUpdate(t *testing.T) {
	text := "SET a = :a REMOVE b"
	u, err := placeholders(t, text).Update(text)
	if err != nil {
		t.Fatal(err)
	}
	all := expression.SetAttributes(attribute.NewItem(attribute.Attribute{Name: "evenkeel.s", Value: attribute.Int(3)}), u)
	got, err := all.Apply(item(t, `{"b":{"S":"x"}}`))
	if err != nil || got.String() != `{"a":{"S":"a"},"evenkeel.s":{"N":"3"}}` {
		t.Error(got, err)
	}
	if got, err := expression.SetAttributes(attribute.NewItem(attribute.Attribute{Name: "x", Value: attribute.Null()}), nil).Apply(nil); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
}

func BenchmarkParse(b *testing.B) {
	text := "a = :a AND begins_with(b, :b)"
	names, values := placeholderParts(b, text)
	b.ReportAllocs()
	for b.Loop() {
		p, err := expression.NewPlaceholders(names, values)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.KeyCondition(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	it := item(b, `{"a":{"S":"a"},"n":{"N":"10"},"ss":{"SS":["b"]}}`)
	text := "a = :a AND n > :n AND contains(ss, :b)"
	c, err := placeholders(b, text).Condition(expression.FilterExpression, text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Match(it)
	}
}

func BenchmarkUpdate(b *testing.B) {
	it := item(b, `{"pk":{"S":"k"},"a":{"S":"x"},"n":{"N":"10"},"m":{"M":{"k":{"S":"v"}}}}`)
	text := "SET a = :a, m.k = :b ADD n :n"
	u, err := placeholders(b, text).Update(text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.Apply(it); err != nil {
			b.Fatal(err)
		}
	}
}
