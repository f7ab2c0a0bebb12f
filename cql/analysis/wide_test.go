// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// wideFields is how many fields the type of wideTable's elements has.
const wideFields = 5000

// wideTable returns a schema with a table w (p int PRIMARY KEY, v list<wide>).
func wideTable() *schema.Schema {
	u := &value.Type{Kind: value.UDT, Keyspace: keyspace, Name: "wide", Frozen: true}
	for i := range wideFields {
		u.Fields = append(u.Fields, fmt.Sprint("f", i))
		u.Elems = append(u.Elems, value.Native(value.Int))
	}
	key := &schema.Column{Name: "p", Type: value.Native(value.Int), Kind: schema.PartitionKey}
	v := &schema.Column{Name: "v", Type: value.ListOf(u, true), Kind: schema.Regular}
	table := &schema.Table{Keyspace: keyspace, Name: "w", PartitionKey: []*schema.Column{key}, Regulars: []*schema.Column{v},
		Columns: map[string]*schema.Column{"p": key, "v": v}}
	return &schema.Schema{Keyspaces: map[string]*schema.Keyspace{keyspace: {Name: keyspace, Tables: map[string]*schema.Table{"w": table}, Types: map[string]*value.Type{"wide": u}}}}
}

// TestNullBesideWideLiteral has the analysis refuse a null within a list, as it does without a literal
// that Bind makes.
func TestNullBesideWideLiteral(t *testing.T) {
	for _, list := range []string{"[null]", "[{f7:1}, null]", "[null, {f7:1}]"} {
		stmt, err := syntax.Parse("INSERT INTO w (p, v) VALUES (1, " + list + ")")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Analyze(stmt, wideTable(), keyspace); err == nil || !strings.Contains(err.Error(), "null is not supported inside collections") {
			t.Errorf("%s: error %v", list, err)
		}
	}
}

// room is a memory of which so many bytes are free.
type room int

var errNoRoom = errors.New("no room")

func (r room) Hold(bytes int) error {
	if bytes > int(r) {
		return errNoRoom
	}
	return nil
}

// TestWideLiterals writes values of a type that has many fields, of which the statement names few.
// The analysis takes what the text says. Bind asks for the memory of the values, and refuses those
// that are too long.
func TestWideLiterals(t *testing.T) {
	s := wideTable()
	list := func(elem string, n int) string { return "[" + strings.Repeat(elem+",", n-1) + elem + "]" }
	for _, c := range []struct {
		text  string // with %s for a list
		elem  string
		value string // of the marker
	}{
		{`INSERT INTO w JSON '{"p":1,"v":%s}'`, "{}", ""},
		{`INSERT INTO w (p, v) VALUES (1, from_json('%s'))`, "{}", ""},
		{"INSERT INTO w (p, v) VALUES (1, %s)", "{f7:1}", ""},
		{"INSERT INTO w (p, v) VALUES (1, %s)", "(wide){f7:1}", ""},
		{"INSERT INTO w JSON ?", "{}", `{"p":1,"v":%s}`},
	} {
		run := func(n int, memory eval.Env) (w *BoundWrite, analysed, bound int, err error) {
			text := c.text
			if strings.Contains(text, "%s") {
				text = fmt.Sprintf(text, list(c.elem, n))
			} else {
				memory.Values = []eval.Value{{Bytes: fmt.Appendf(nil, c.value, list(c.elem, n))}}
			}
			stmt, err := syntax.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			var before, after, end runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := Analyze(stmt, s, keyspace)
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			w, err = a.(*Write).Bind(&memory)
			runtime.ReadMemStats(&end)
			return w, int(after.TotalAlloc - before.TotalAlloc), int(end.TotalAlloc - after.TotalAlloc), err
		}
		w, took, _, err := run(1000, eval.Env{})
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if v := w.Mutations[0].Value; len(v) != 4+1000*(4+4*wideFields+4*strings.Count(c.elem, ":")) {
			t.Errorf("%s: a value of %d bytes", c.text, len(v))
		}
		if most := 500*1000*len(c.elem) + 1<<20; took > most {
			t.Errorf("%s: the analysis took %d bytes", c.text, took)
		}
		_, _, took, err = run(1000, eval.Env{Memory: room(1 << 20)})
		if !errors.Is(err, errNoRoom) || took > 8<<20 {
			t.Errorf("%s, with little room: %d bytes, error %v", c.text, took, err)
		}
		if _, _, _, err := run(4000, eval.Env{}); err == nil || !strings.Contains(err.Error(), "64 MiB") {
			t.Errorf("%s: error %v", c.text, err)
		}
	}
}
