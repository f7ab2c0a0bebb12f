// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"iter"
	"strings"
	"unsafe"
)

// StatementKind is the kind of a statement, as far as its first words tell.
type StatementKind uint8

// The kinds. StatementUnknown is not a statement. StatementOther is a statement that Parse returns
// as Other: roles, grants, functions, aggregates, triggers, ALTER of views.
const (
	StatementUnknown StatementKind = iota
	StatementSelect
	StatementInsert
	StatementUpdate
	StatementDelete
	StatementBatch
	StatementUse
	StatementTruncate
	StatementCreateKeyspace
	StatementCreateTable
	StatementCreateType
	StatementCreateIndex
	StatementCreateView
	StatementAlterKeyspace
	StatementAlterTable
	StatementAlterType
	StatementDropKeyspace
	StatementDropTable
	StatementDropType
	StatementDropIndex
	StatementDropView
	StatementDescribe
	StatementOther
)

// Head holds the kind of a statement and the names in it that Target reads without parsing the
// statement.
type Head struct {
	Kind StatementKind
	// Name is the table that the statement reads or writes, or the object that a schema statement
	// names (a keyspace sets only Name.Name). It is empty for a batch, DESCRIBE, other statements,
	// and an index without a name.
	Name Name
	// On is the table that CREATE INDEX and CREATE MATERIALIZED VIEW name in addition.
	On Name
}

// Target returns the kind of a statement and the table that it names. It reads no further than the
// name and checks nothing. For a text that Parse refuses, the result may be anything. For a text
// that Parse accepts, the result agrees with Parse. Target does not allocate, unless it must fold
// or unquote a name.
func Target(text string) Head {
	s := scanner{lexer{text: text, plain: true}}
	return s.head()
}

// TargetBytes works as Target does, for a text in a buffer. The names of the Head alias the buffer;
// they are valid as long as its bytes do not change.
func TargetBytes(text []byte) Head {
	return Target(unsafe.String(unsafe.SliceData(text), len(text)))
}

// Tables yields the tables that the statements of a batch write, in order, each as often as it is
// named. For another statement it yields the table that the statement names.
func Tables(text string) iter.Seq[Name] {
	return func(yield func(Name) bool) {
		s := scanner{lexer{text: text, plain: true}}
		h := s.head()
		if h.Kind != StatementBatch {
			switch h.Kind {
			case StatementSelect, StatementInsert, StatementUpdate, StatementDelete, StatementTruncate,
				StatementCreateTable, StatementAlterTable, StatementDropTable:
				yield(h.Name)
			case StatementCreateIndex, StatementCreateView:
				yield(h.On)
			}
			return
		}
		for {
			switch t := s.next(); {
			case t.kind == tEOF:
				return
			case s.is(t, "insert"), s.is(t, "delete"):
				if !yield(s.nameBehind("into", "from")) {
					return
				}
			case s.is(t, "update"):
				if !yield(s.name(s.next())) {
					return
				}
			}
		}
	}
}

// NamesKeyspace reports whether a statement names a keyspace anywhere: as a keyspace that it
// creates, drops or grants, or before the dot of a name. It reads only tokens, so it also finds the
// keyspace in texts that Parse refuses. If the text cannot be cut into tokens, it reports whether
// the word occurs anywhere. It does not allocate, unless it must fold or unquote a name.
//
// If a column has the keyspace's name and a field of the column is selected, NamesKeyspace takes
// the column for the keyspace.
func NamesKeyspace(text, keyspace string) bool {
	s := scanner{lexer{text: text, plain: true}}
	named := false // the next name is that of a keyspace
	for t := s.next(); t.kind != tEOF; {
		switch {
		case s.is(t, "keyspace"):
			named = true
			t = s.unless()
			continue // t may be the word again: a keyspace may be called keyspace
		case t.kind == tIdent || t.kind == tQuoted:
			name := s.ident(t)
			t = s.next()
			if name == keyspace && (named || t.kind == tDot) {
				return true
			}
			named = false
			continue
		}
		named = false
		t = s.next()
	}
	return s.err != nil && Mentions(text, keyspace)
}

// Mentions reports whether a word occurs in a text, ignoring case.
func Mentions(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// scanner reads the words of a statement. It treats all of them as plain identifiers.
type scanner struct{ lexer }

// is reports whether a token is the word. The word is in lower case.
func (s *scanner) is(t token, word string) bool {
	if t.kind != tIdent || int(t.end-t.pos) != len(word) {
		return false
	}
	text := s.text[t.pos:t.end]
	for i := 0; i < len(word); i++ {
		if text[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

func (s *scanner) ident(t token) string {
	switch t.kind {
	case tIdent:
		return lower(s.text[t.pos:t.end])
	case tQuoted:
		return unquoteName(s.text[t.pos:t.end])
	}
	return ""
}

// name reads [keyspace.]name. t is its first token.
func (s *scanner) name(t token) Name {
	first := s.ident(t)
	if s.pos < len(s.text) && s.text[s.pos] != '.' && s.text[s.pos] > ' ' && s.text[s.pos] != '/' && s.text[s.pos] != '-' {
		return Name{Name: first} // no dot can follow
	}
	before := s.lexer
	if s.next().kind != tDot {
		s.lexer = before
		return Name{Name: first}
	}
	return Name{Keyspace: first, Name: s.ident(s.next())}
}

// nameBehind skips to one of two reserved words and reads the name after it.
func (s *scanner) nameBehind(a, b string) Name {
	for {
		t := s.next()
		if t.kind == tEOF {
			return Name{}
		}
		if s.is(t, a) || s.is(t, b) {
			return s.name(s.next())
		}
	}
}

// unless reads the token after an optional IF [NOT] EXISTS.
func (s *scanner) unless() token {
	t := s.next()
	if s.is(t, "if") {
		if t = s.next(); s.is(t, "not") {
			s.next()
		}
		t = s.next()
	}
	return t
}

func (s *scanner) head() Head {
	t := s.next()
	if t.kind != tIdent {
		return Head{}
	}
	switch s.text[t.pos] | 0x20 {
	case 's':
		if s.is(t, "select") {
			return Head{Kind: StatementSelect, Name: s.nameBehind("from", "from")}
		}
	case 'i':
		if s.is(t, "insert") {
			return Head{Kind: StatementInsert, Name: s.nameBehind("into", "into")}
		}
	case 'u':
		if s.is(t, "update") {
			return Head{Kind: StatementUpdate, Name: s.name(s.next())}
		}
		if s.is(t, "use") {
			return Head{Kind: StatementUse, Name: Name{Name: s.ident(s.next())}}
		}
	case 'd':
		switch {
		case s.is(t, "delete"):
			return Head{Kind: StatementDelete, Name: s.nameBehind("from", "from")}
		case s.is(t, "describe"), s.is(t, "desc"):
			return Head{Kind: StatementDescribe}
		case s.is(t, "drop"):
			return s.schema(2)
		}
	case 'b':
		if s.is(t, "begin") {
			return Head{Kind: StatementBatch}
		}
	case 't':
		if s.is(t, "truncate") {
			t = s.next()
			if s.is(t, "table") || s.is(t, "columnfamily") {
				t = s.next()
			}
			return Head{Kind: StatementTruncate, Name: s.name(t)}
		}
	case 'c':
		if s.is(t, "create") {
			return s.schema(0)
		}
	case 'a':
		if s.is(t, "alter") {
			return s.schema(1)
		}
		if s.is(t, "add") {
			return Head{Kind: StatementOther}
		}
	case 'g', 'r', 'l':
		if s.is(t, "grant") || s.is(t, "revoke") || s.is(t, "list") {
			return Head{Kind: StatementOther}
		}
	}
	return Head{}
}

// schema reads what follows CREATE (0), ALTER (1) or DROP (2).
func (s *scanner) schema(verb int) Head {
	t := s.next()
	switch {
	case s.is(t, "keyspace"):
		kind := [...]StatementKind{StatementCreateKeyspace, StatementAlterKeyspace, StatementDropKeyspace}[verb]
		return Head{Kind: kind, Name: Name{Name: s.ident(s.unless())}}
	case s.is(t, "table"), s.is(t, "columnfamily"):
		kind := [...]StatementKind{StatementCreateTable, StatementAlterTable, StatementDropTable}[verb]
		return Head{Kind: kind, Name: s.name(s.unless())}
	case s.is(t, "type"):
		kind := [...]StatementKind{StatementCreateType, StatementAlterType, StatementDropType}[verb]
		return Head{Kind: kind, Name: s.name(s.unless())}
	case s.is(t, "materialized"):
		s.next()
		switch verb {
		case 0:
			h := Head{Kind: StatementCreateView, Name: s.name(s.unless())}
			h.On = s.nameBehind("from", "from")
			return h
		case 2:
			return Head{Kind: StatementDropView, Name: s.name(s.unless())}
		}
	case verb != 1 && (s.is(t, "index") || s.is(t, "custom")):
		if s.is(t, "custom") {
			s.next()
		}
		t = s.unless()
		if verb == 2 {
			return Head{Kind: StatementDropIndex, Name: s.name(t)}
		}
		h := Head{Kind: StatementCreateIndex}
		if !s.is(t, "on") {
			h.Name.Name = s.ident(t)
			s.next()
		}
		h.On = s.name(s.next())
		return h
	}
	return Head{Kind: StatementOther}
}
