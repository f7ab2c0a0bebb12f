// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// invoke runs a function outside of an evaluation.
func invoke(f *Function, env *Env, args [][]byte) ([]byte, error) {
	if f.grow != nil {
		v, _, err := f.grow(args, maxMade)
		return v, err
	}
	return f.call(env, args)
}

// callOf makes a call of a function that has an overload for any types.
func callOf(t *testing.T, name string, args ...Expr) *Call {
	t.Helper()
	var types []*value.Type
	for _, a := range args {
		types = append(types, a.Type())
	}
	f, err := factories[name].make(factories[name], types, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Call{Func: f, Args: args}
}

// fromJSON makes a call of from_json.
func fromJSON(t *testing.T, to *value.Type, json string) Expr {
	t.Helper()
	f, err := factories["from_json"].make(factories["from_json"], nil, to)
	if err != nil {
		t.Fatal(err)
	}
	return &Call{Func: f, Args: []Expr{&Const{T: value.Native(value.Text), Value: []byte(json)}}}
}

// store is a memory budget of the given size. It records the largest number of bytes that an
// evaluation asked for.
type store struct{ most, asked int }

var errFull = errors.New("no room")

func (s *store) Hold(bytes int) error {
	if s.asked = max(s.asked, bytes); bytes > s.most {
		return errFull
	}
	return nil
}

// longer returns expressions whose values are much longer than their arguments.
func longer(t *testing.T) map[string]Expr {
	text := value.Native(value.Text)
	column := &Column{Cell: 0, Column: textColumn}
	json := Expr(column)
	sum := Expr(column)
	nested := value.Native(value.Text)
	key := []byte(`"`)
	made := text
	for range 64 {
		json = callOf(t, "to_json", json)
		nested = value.MapOf(nested, text, true)
		key = nested.Build(nil, [][]byte{key, []byte("a")})
		made = &value.Type{Kind: value.Tuple, Elems: []*value.Type{made, made}}
	}
	for range 5000 {
		sum = &Call{Func: concatenation(value.Text, value.Text, value.Text), Args: []Expr{sum, column}}
	}
	floats := &value.Type{Kind: value.Vector, Elems: []*value.Type{value.Native(value.Float)}, Dim: 1<<31 - 1}
	wide := make([]Expr, 5000)
	for i := range wide {
		wide[i] = callOf(t, "to_json", column)
	}
	wideType := &value.Type{Kind: value.UDT, Name: "u", Fields: make([]string, 5000), Elems: types(text, 5000)}
	elements := "[{}" + strings.Repeat(",{}", 5000) + "]"
	return map[string]Expr{
		"from_json":                fromJSON(t, value.ListOf(wideType, true), elements),
		"to_json of to_json":       json,
		"text + text":              sum,
		"keys within keys":         callOf(t, "to_json", &Const{T: nested, Value: key}),
		"mask_default of a vector": callOf(t, "mask_default", &Const{T: floats}),
		"mask_default of tuples":   callOf(t, "mask_default", &Const{T: made}),
		"mask_inner":               &Collection{T: value.ListOf(text, true), Elems: masks(t, 5000, column)},
		"a list of to_json":        &Collection{T: value.ListOf(text, true), Elems: wide},
		"a long column repeated":   &Collection{T: &value.Type{Kind: value.Tuple, Elems: types(text, 5000)}, Elems: repeat(column, 5000)},
	}
}

func types(t *value.Type, n int) []*value.Type {
	all := make([]*value.Type, n)
	for i := range all {
		all[i] = t
	}
	return all
}

func repeat(e Expr, n int) []Expr {
	all := make([]Expr, n)
	for i := range all {
		all[i] = e
	}
	return all
}

func masks(t *testing.T, n int, column Expr) []Expr {
	zero := &Const{T: value.Native(value.Int), Value: encodeInt(0)}
	all := make([]Expr, n)
	for i := range all {
		all[i] = callOf(t, "mask_outer", column, zero, zero, &Const{T: column.Type(), Value: []byte("€")})
	}
	return all
}

// TestMadeValuesAreBounded evaluates expressions whose values are much longer than their arguments. Eval
// refuses each before it takes much memory, and names the function. If less memory is free, Eval takes
// less.
func TestMadeValuesAreBounded(t *testing.T) {
	row := Cells{bytes.Repeat([]byte{'"', 1}, 15_000)}
	const much = 25 * maxMade // with what was copied as it grew
	for name, e := range longer(t) {
		t.Run(name, func(t *testing.T) {
			var err error
			took := allocated(func() { _, err = Eval(e, &Env{}, row) })
			var w *wire.Error
			if !errors.As(err, &w) || w.Code != wire.CodeInvalid || !strings.Contains(w.Message, "64 MiB") {
				t.Errorf("error %.300v", err)
			}
			if took > much {
				t.Errorf("took %d bytes", took)
			}
			memory := &store{most: 1 << 20}
			took = allocated(func() { _, err = Eval(e, &Env{Memory: memory}, row) })
			if err == nil || memory.asked > maxMade {
				t.Errorf("asked for %d bytes, error %.300v", memory.asked, err)
			}
			if took > 8<<20 {
				t.Errorf("took %d bytes of 1 MiB", took)
			}
		})
	}
}

// TestMadeValuesCountTogether makes many values for one row, none of which is too long.
func TestMadeValuesCountTogether(t *testing.T) {
	column := &Column{Cell: 0, Column: textColumn}
	s := &Selection{}
	for i := range 200 {
		s.Exprs = append(s.Exprs, callOf(t, "to_json", column))
		s.JSON = append(s.JSON, fmt.Sprint("c", i))
	}
	row := Cells{make([]byte, 100_000)}
	for _, names := range [][]string{nil, s.JSON} {
		s.JSON = names
		if _, err := s.Row(&Env{}, row, nil); err == nil || !strings.Contains(err.Error(), " to_json makes a value that is too long") {
			t.Errorf("error %v", err)
		}
	}
	for i := range s.Exprs { // each is 64 KB; together 77 MB in JSON
		s.Exprs[i] = column
	}
	row[0] = make([]byte, 1<<16)
	if _, err := s.Row(&Env{}, row, nil); err == nil || !strings.Contains(err.Error(), " SELECT JSON makes") {
		t.Errorf("error %v", err)
	}
	s.JSON = nil
	if _, err := s.Row(&Env{}, row, nil); err != nil { // nothing is made
		t.Error(err)
	}
	// Statements of a batch count together, too; each row of a result counts alone.
	term := callOf(t, "to_json", &Const{T: textColumn.Type, Value: make([]byte, 1<<20)})
	var before Env
	n := 0
	for ; ; n++ {
		env := Env{}
		env.After(&before)
		if _, err := Term(term, &env); err != nil {
			break
		}
		before = env
	}
	if n != 10 {
		t.Errorf("%d terms of 6 MiB were made", n)
	}
	for range 20 {
		if _, err := Eval(term, &before, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAggregatesKeepLittle runs many aggregates over one group. One bound holds for the bytes that they
// all keep.
func TestAggregatesKeepLittle(t *testing.T) {
	column := &Column{Cell: 0, Column: textColumn}
	s := &Selection{Aggregated: true}
	for range 100 {
		s.Exprs = append(s.Exprs, callOf(t, "max", column))
	}
	g := s.NewGroup()
	if err := g.Add(&Env{}, Cells{make([]byte, 1<<20)}); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("error %v", err)
	}
	memory := &store{most: 20 << 20}
	g = s.NewGroup()
	if err := g.Add(&Env{Memory: memory}, Cells{make([]byte, 500_000)}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

// TestSlicesCountTogether selects a long map in many slices. They are a new value each, and count as
// what functions make.
func TestSlicesCountTogether(t *testing.T) {
	m := value.MapOf(value.Native(value.Int), value.Native(value.Text), false)
	var parts [][]byte
	for i := range 10 {
		parts = append(parts, encodeInt(int64(i)), make([]byte, 100_000))
	}
	row := Cells{m.Build(nil, parts)}
	column := &Column{Cell: 0, Column: &schema.Column{Name: "m", Type: m}}
	s := &Selection{}
	for range 200 {
		s.Exprs = append(s.Exprs, &Range{Of: column, From: &Const{T: m.Elems[0], Value: encodeInt(1)}})
	}
	memory := &store{most: 1 << 20}
	if _, err := s.Row(&Env{Memory: memory}, row, nil); err == nil || memory.asked > 4<<20 {
		t.Errorf("asked for %d bytes, error %v", memory.asked, err)
	}
	var err error
	took := allocated(func() { _, err = s.Row(&Env{}, row, nil) })
	if err == nil || !strings.Contains(err.Error(), "a slice of m makes a value that is too long") {
		t.Errorf("error %v", err)
	}
	if took > 2*maxMade {
		t.Errorf("took %d bytes", took)
	}
	s.Exprs = s.Exprs[:50]
	if _, err := s.Row(&Env{}, row, nil); err != nil {
		t.Error(err)
	}
}
