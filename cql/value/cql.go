// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"strconv"
	"strings"
)

// names holds the native types' CQL names.
var names = [kinds]string{
	Ascii: "ascii", Bigint: "bigint", Blob: "blob", Boolean: "boolean", Counter: "counter",
	Decimal: "decimal", Double: "double", Float: "float", Int: "int", Timestamp: "timestamp",
	UUID: "uuid", Text: "text", Varint: "varint", Timeuuid: "timeuuid", Inet: "inet",
	Date: "date", Time: "time", Smallint: "smallint", Tinyint: "tinyint", Duration: "duration",
	List: "list", Map: "map", Set: "set", Tuple: "tuple", Vector: "vector", Empty: "empty",
}

// Named returns the native type with a CQL name in lower case, including varchar; nil for other
// names.
func Named(name string) *Type {
	if name == "varchar" {
		return native[Text]
	}
	for k, t := range native {
		if t != nil && names[k] == name {
			return t
		}
	}
	return nil
}

// String formats the type as CQL writes it and system_schema shows it: frozen<list<int>>,
// vector<float, 3>, frozen<tuple<int, text>>. A user-defined type is its name, quoted if necessary.
func (t *Type) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *Type) write(b *strings.Builder) {
	frozen := t.Kind == Tuple || (t.Collection() || t.Kind == UDT) && t.Frozen
	if frozen {
		b.WriteString("frozen<")
	}
	switch t.Kind {
	case Custom:
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(t.Name, "'", "''"))
		b.WriteByte('\'')
	case UDT:
		b.WriteString(quoteName(t.Name))
	case List, Set, Map, Tuple, Vector:
		b.WriteString(names[t.Kind])
		b.WriteByte('<')
		for i, e := range t.Elems {
			if i > 0 {
				b.WriteString(", ")
			}
			e.write(b)
		}
		if t.Kind == Vector {
			b.WriteString(", ")
			b.WriteString(strconv.Itoa(t.Dim))
		}
		b.WriteByte('>')
	default:
		b.WriteString(names[t.Kind])
	}
	if frozen {
		b.WriteByte('>')
	}
}

// reserved holds the words that are not plain identifiers.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`add allow alter and apply asc authorize batch begin by columnfamily create
		delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace
		limit materialized modify nan norecursive not null of on or order primary rename revoke schema select
		set table to token truncate unlogged update use using view where with`) {
		m[w] = true
	}
	return m
}()

// quoteName formats an identifier, in double quotes if it is not a plain one.
func quoteName(name string) string {
	plain := name != "" && name[0] >= 'a' && name[0] <= 'z' && !reserved[name]
	for i := range len(name) {
		c := name[i]
		plain = plain && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// maxDepth is how deep types may nest in a text that this package parses.
const maxDepth = 64

// ParseType parses a type in CQL's form, as in system_schema. resolve returns the user-defined type
// of a (folded) name, not frozen. It is nil if there are none.
func ParseType(cql string, resolve func(name string) (*Type, error)) (*Type, error) {
	p := typeParser{text: cql, resolve: resolve}
	t, err := p.parse(0)
	if err == nil && p.next() != "" {
		err = p.fault("more behind the type")
	}
	if err != nil {
		return nil, fmt.Errorf("parse type %q: %w", cql, err)
	}
	return t, nil
}

type typeParser struct {
	text    string
	at      int
	resolve func(string) (*Type, error)
}

func (p *typeParser) fault(what string) error {
	return fmt.Errorf("%s at character %d", what, p.at)
}

// next returns the next token without consuming it: a word, a quoted word, or one other byte; "" at
// the end.
func (p *typeParser) next() string {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	s := p.text[p.at:]
	if s == "" {
		return ""
	}
	if q := s[0]; q == '"' || q == '\'' {
		for i := 1; i < len(s); i++ {
			if s[i] != q {
				continue
			}
			if i+1 < len(s) && s[i+1] == q {
				i++
				continue
			}
			return s[:i+1]
		}
		return s
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return s[:max(n, 1)]
}

func (p *typeParser) take() string {
	s := p.next()
	p.at += len(s)
	return s
}

func (p *typeParser) expect(token string) error {
	if p.next() != token {
		return p.fault("no " + strconv.Quote(token))
	}
	p.take()
	return nil
}

func (p *typeParser) parse(depth int) (*Type, error) {
	if depth > maxDepth {
		return nil, p.fault("types nest too deeply")
	}
	word := p.take()
	if word == "" {
		return nil, p.fault("no type")
	}
	switch word[0] {
	case '\'':
		if len(word) < 2 || word[len(word)-1] != '\'' {
			return nil, p.fault("no closing quote")
		}
		t, _, err := ParseClass(strings.ReplaceAll(word[1:len(word)-1], "''", "'"))
		return t, err
	case '"':
		if len(word) < 2 || word[len(word)-1] != '"' {
			return nil, p.fault("no closing quote")
		}
		return p.named(strings.ReplaceAll(word[1:len(word)-1], `""`, `"`))
	}
	word = strings.ToLower(word)
	if p.next() != "<" {
		if t := Named(word); t != nil {
			return t, nil
		}
		return p.named(word)
	}
	p.take()
	elem, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	var t *Type
	switch word {
	case "frozen":
		t = elem.Freeze()
	case "list":
		t = ListOf(elem, false)
	case "set":
		t = SetOf(elem, false)
	case "map":
		if err := p.expect(","); err != nil {
			return nil, err
		}
		val, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		t = MapOf(elem, val, false)
	case "tuple":
		elems := []*Type{elem}
		for p.next() == "," {
			p.take()
			e, err := p.parse(depth + 1)
			if err != nil {
				return nil, err
			}
			elems = append(elems, e)
		}
		t = TupleOf(elems...)
	case "vector":
		if err := p.expect(","); err != nil {
			return nil, err
		}
		dim, err := strconv.Atoi(p.take())
		if err != nil || dim < 1 {
			return nil, p.fault("no dimension")
		}
		t = VectorOf(elem, dim)
	default:
		return nil, p.fault("unknown type " + word + "<…>")
	}
	return t, p.expect(">")
}

func (p *typeParser) named(name string) (*Type, error) {
	if p.resolve == nil || name == "" {
		return nil, p.fault("unknown type " + quoteName(name))
	}
	t, err := p.resolve(name)
	if err == nil && t == nil {
		err = p.fault("unknown type " + quoteName(name))
	}
	return t, err
}
