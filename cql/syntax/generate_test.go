// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// generator draws random trees of the kind that Parse returns.
type generator struct {
	*rapid.T
	binds int
}

func (g *generator) chance(oneIn int) bool { return rapid.IntRange(1, oneIn).Draw(g.T, "chance") == 1 }
func (g *generator) upTo(n int) int        { return rapid.IntRange(0, n).Draw(g.T, "n") }

func pick[E any](g *generator, of ...E) E { return rapid.SampledFrom(of).Draw(g.T, "pick") }

func (g *generator) ident() string {
	if g.chance(3) {
		return pick(g, keywords[:]...).text
	}
	return rapid.StringMatching(`[a-z][a-z0-9_]{0,6}|[A-Z][a-z"]{1,3}|[0-9 é$]{1,3}|[a-f0-9]{8}|expr`).Draw(g.T, "ident")
}

// list draws between low and high elements.
func list[E any](g *generator, low, high int, one func() E) []E {
	var l []E
	for range rapid.IntRange(low, high).Draw(g.T, "len") {
		l = append(l, one())
	}
	return l
}

func (g *generator) name() Name {
	if g.chance(2) {
		return Name{Name: g.ident()}
	}
	return Name{Keyspace: g.ident(), Name: g.ident()}
}

func (g *generator) constant() Expr {
	number := rapid.StringMatching(`-?[0-9]{1,4}`).Draw(g.T, "number")
	switch g.upTo(7) {
	case 0:
		return &Constant{ConstString, rapid.String().Draw(g.T, "string")}
	case 1:
		return &Constant{ConstFloat, number + pick(g, ".", ".5", "e7", ".5e-3")}
	case 2:
		return &Constant{ConstFloat, pick(g, "NaN", "Infinity", "-Infinity")}
	case 3:
		return &Constant{ConstUUID, "550e8400-e29b-41d4-a716-446655440000"}
	case 4:
		return &Constant{ConstHex, pick(g, "", "ab", "0")}
	case 5:
		return &Constant{ConstBool, pick(g, "true", "FALSE")}
	case 6:
		return &Constant{ConstDuration, pick(g, "1y2mo3w4d", "-5h6m7s8ms9us10ns", "1µs", "P1Y2M3DT4H", "PT5M", "-P6W")}
	}
	return &Constant{ConstInteger, number}
}

func (g *generator) bind() Expr {
	b := &Bind{Index: g.binds}
	g.binds++
	if g.chance(2) {
		b.Name = g.ident()
	}
	return b
}

func (g *generator) intValue() Expr {
	if g.chance(2) {
		return g.bind()
	}
	return &Constant{ConstInteger, "10"}
}

func (g *generator) typeRef(depth int) TypeRef {
	if depth > 0 && g.chance(2) {
		one := func() TypeRef { return g.typeRef(depth - 1) }
		t := TypeRef{Frozen: g.chance(3)}
		switch g.upTo(4) {
		case 0:
			t.Name.Name, t.Params = "map", list(g, 2, 2, one)
		case 1:
			t.Name.Name, t.Params = "tuple", list(g, 1, 3, one)
		case 2:
			t.Name.Name, t.Params, t.Dim = "vector", list(g, 1, 1, one), g.upTo(9)
		default:
			t.Name.Name, t.Params = pick(g, "list", "set"), list(g, 1, 1, one)
		}
		return t
	}
	switch g.upTo(3) {
	case 0:
		return TypeRef{Name: g.name(), User: true, Frozen: g.chance(2)}
	case 1:
		return TypeRef{Name: Name{Name: "UTF8Type"}, Custom: true}
	}
	return g.nativeType()
}

func (g *generator) nativeType() TypeRef {
	return TypeRef{Name: Name{Name: pick(g, "int", "text", "counter", "date", "uuid")}}
}

// term draws a value for statements other than SELECT.
func (g *generator) term(depth int) Expr { return g.arithmetic(depth, g.signedTerm) }

// arithmetic draws a left-leaning tree, as the grammar builds it.
func (g *generator) arithmetic(depth int, operand func(int) Expr) Expr {
	product := func() Expr {
		e := operand(depth)
		for depth > 0 && g.chance(5) {
			e = &Binary{pick(g, OpMul, OpDiv, OpMod), e, operand(depth - 1)}
		}
		return e
	}
	e := product()
	for depth > 0 && g.chance(5) {
		e = &Binary{pick(g, OpAdd, OpSub), e, product()}
	}
	return e
}

func (g *generator) signedTerm(depth int) Expr {
	if g.chance(8) {
		return &Negate{g.simpleTerm(depth)}
	}
	return g.simpleTerm(depth)
}

func (g *generator) simpleTerm(depth int) Expr {
	if depth <= 0 {
		return g.leaf()
	}
	one := func() Expr { return g.term(depth - 1) }
	switch g.upTo(9) {
	case 0:
		return &List{list(g, 0, 2, one)}
	case 1:
		return &Set{list(g, 0, 2, one)}
	case 2:
		return &Tuple{list(g, 1, 3, one)}
	case 3:
		return &Map{list(g, 1, 2, func() MapEntry { return MapEntry{one(), one()} })}
	case 4:
		return &UDT{list(g, 1, 2, func() UDTField { return UDTField{g.ident(), one()} })}
	case 5:
		return &Hint{g.typeRef(1), g.simpleTerm(depth - 1)}
	case 6:
		return &Cast{g.simpleTerm(depth - 1), g.nativeType()}
	case 7:
		return &Call{Func: g.name(), Args: list(g, 0, 2, one)}
	}
	return g.leaf()
}

func (g *generator) leaf() Expr {
	switch g.upTo(4) {
	case 0:
		return &Null{}
	case 1:
		return g.bind()
	}
	return g.constant()
}

// selector draws an item of a select list.
func (g *generator) selector(depth int) Expr { return g.arithmetic(depth, g.selectorGroup) }

func (g *generator) selectorGroup(depth int) Expr {
	if g.chance(8) {
		return &Negate{g.selectorGroup(depth - 1)}
	}
	return g.modified(g.selectorBase(depth))
}

func (g *generator) modified(e Expr) Expr {
	for g.chance(4) {
		switch g.upTo(4) {
		case 0:
			e = &Field{e, g.ident()}
		case 1:
			e = &Element{e, g.term(1)}
		case 2:
			e = &Range{e, g.term(1), g.term(1)}
		case 3:
			e = &Range{e, nil, g.term(1)}
		case 4:
			e = &Range{e, g.term(1), nil}
		}
	}
	return e
}

func (g *generator) selectorBase(depth int) Expr {
	if depth <= 0 {
		if g.chance(2) {
			return &Column{g.ident()}
		}
		return g.leaf()
	}
	one := func() Expr { return g.selector(depth - 1) }
	switch g.upTo(10) {
	case 0:
		return &List{list(g, 0, 2, one)}
	case 1:
		return &Set{list(g, 0, 2, one)}
	case 2:
		if g.chance(2) {
			// The grammar reads a lone column or string as a type hint if it can: (a)[1] is a list
			// of type a, and (a): b after a brace is a hint for a marker.
			return &Tuple{[]Expr{&Binary{OpAdd, &Column{g.ident()}, g.selectorBase(0)}}}
		}
		return &Tuple{list(g, 2, 3, one)}
	case 3:
		return &Map{list(g, 1, 2, func() MapEntry { return MapEntry{one(), one()} })}
	case 4:
		return &Hint{g.typeRef(1), g.selectorBase(depth - 1)}
	case 5:
		return &Cast{one(), g.nativeType()}
	case 6:
		return &Call{Func: g.name(), Args: list(g, 0, 2, one)}
	case 7:
		return &Call{Func: Name{Name: "count"}, Star: true}
	case 8:
		return &Call{Func: Name{Name: pick(g, "ttl", "writetime", "maxwritetime")}, Args: []Expr{g.modified(&Column{g.ident()})}}
	}
	return &Column{g.ident()}
}

func (g *generator) relation() Relation {
	comparison := func() Op { return pick(g, OpEQ, OpLT, OpLE, OpGT, OpGE, OpNE) }
	tuple := func() Expr { return &Tuple{list(g, 1, 2, func() Expr { return g.term(1) })} }
	switch g.upTo(9) {
	case 0:
		return Relation{Columns: []string{g.ident()}, Op: OpIn, Value: g.bind()}
	case 1:
		return Relation{Columns: []string{g.ident()}, Op: OpIn, Values: append([]Expr{}, list(g, 0, 2, func() Expr { return g.term(1) })...)}
	case 2:
		return Relation{Columns: []string{g.ident()}, Op: pick(g, OpLike, OpContains, OpContainsKey), Value: g.term(1)}
	case 3:
		return Relation{Columns: []string{g.ident()}, Op: OpIsNotNull}
	case 4:
		return Relation{Columns: []string{g.ident()}, Key: g.term(1), Op: comparison(), Value: g.term(1)}
	case 5:
		return Relation{Columns: list(g, 1, 3, g.ident), Token: true, Op: comparison(), Value: g.term(1)}
	case 6:
		return Relation{Columns: list(g, 1, 3, g.ident), Tuple: true, Op: comparison(), Value: pick(g, tuple, g.bind)()}
	case 7:
		one := pick(g, tuple, g.bind)
		return Relation{Columns: list(g, 1, 3, g.ident), Tuple: true, Op: OpIn, Values: append([]Expr{}, list(g, 0, 2, one)...)}
	case 8:
		return Relation{Index: g.ident(), Value: g.term(1)}
	}
	return Relation{Columns: []string{g.ident()}, Op: comparison(), Value: g.term(2)}
}

func (g *generator) condition() Condition {
	c := Condition{Column: g.ident()}
	switch g.upTo(3) {
	case 0:
		c.Key = g.term(1)
	case 1:
		c.Field = g.ident()
	case 2:
		c.Op, c.Value = pick(g, OpContains, OpContainsKey), g.term(1)
		return c
	}
	switch g.upTo(2) {
	case 0:
		c.Op, c.Value = OpIn, g.bind()
	case 1:
		c.Op, c.Values = OpIn, append([]Expr{}, list(g, 0, 2, func() Expr { return g.term(1) })...)
	default:
		c.Op, c.Value = pick(g, OpEQ, OpNE, OpLT), g.term(1)
	}
	return c
}

func (g *generator) selectStatement() *Select {
	s := &Select{JSON: g.chance(4), Distinct: g.chance(4)}
	s.Selectors = list(g, 0, 3, func() Selector {
		item := Selector{Expr: g.selector(3)}
		if g.chance(3) {
			item.Alias = g.ident()
		}
		return item
	})
	s.From = g.name()
	s.Where = list(g, 0, 3, g.relation)
	s.GroupBy = list(g, 0, 2, func() Expr { return g.selector(1) })
	s.OrderBy = list(g, 0, 2, func() Ordering {
		o := Ordering{Column: g.ident(), Desc: g.chance(2)}
		if g.chance(4) {
			o.ANNOf = g.term(1)
		}
		return o
	})
	if g.chance(3) {
		s.PerPartitionLimit = g.intValue()
	}
	if g.chance(3) {
		s.Limit = g.intValue()
	}
	s.AllowFiltering = g.chance(3)
	return s
}

func (g *generator) using(ttl bool) Using {
	var u Using
	if g.chance(3) {
		u.Timestamp = g.intValue()
	}
	if ttl && g.chance(3) {
		u.TTL = g.intValue()
	}
	return u
}

func (g *generator) insert() *Insert {
	s := &Insert{Into: g.name()}
	if g.chance(3) {
		if s.JSON = g.bind(); g.chance(2) {
			g.binds--
			s.JSON = &Constant{ConstString, "{}"}
		}
		s.JSONUnset = g.chance(2)
	} else {
		s.Columns = list(g, 1, 3, g.ident)
		s.Values = list(g, 1, 3, func() Expr { return g.term(2) })
	}
	s.IfNotExists = g.chance(2)
	s.Using = g.using(true)
	return s
}

func (g *generator) update() *Update {
	s := &Update{Table: g.name(), Using: g.using(true)}
	for i := range rapid.IntRange(1, 3).Draw(g.T, "assignments") {
		c := fmt.Sprintf("%s_%d", g.ident(), i)
		a := Assignment{Column: c}
		switch g.upTo(5) {
		case 0:
			a.Key, a.Value = g.term(1), g.term(1)
		case 1:
			a.Field, a.Value = g.ident(), g.term(1)
		case 2:
			a.Value = &Binary{pick(g, OpAdd, OpSub), &Column{c}, g.term(2)}
		case 3:
			a.Value = &Binary{OpAdd, g.term(2), &Column{c}}
		default:
			a.Value = g.term(3)
		}
		s.Set = append(s.Set, a)
	}
	s.Where = list(g, 1, 3, g.relation)
	s.If, s.IfExists = g.conditions()
	return s
}

func (g *generator) conditions() ([]Condition, bool) {
	if g.chance(4) {
		return nil, true
	}
	return list(g, 0, 2, g.condition), false
}

func (g *generator) delete() *Delete {
	s := &Delete{Items: list(g, 0, 2, func() DeleteItem {
		d := DeleteItem{Column: g.ident()}
		switch g.upTo(2) {
		case 0:
			d.Key = g.term(1)
		case 1:
			d.Field = g.ident()
		}
		return d
	})}
	s.From = g.name()
	s.Using = g.using(false)
	s.Where = list(g, 1, 3, g.relation)
	s.If, s.IfExists = g.conditions()
	return s
}

// distinct draws distinct names.
func (g *generator) distinct(low, high int) []string {
	n := 0
	return list(g, low, high, func() string { n++; return fmt.Sprintf("%s_%d", g.ident(), n) })
}

func (g *generator) properties(low int) Properties {
	var ps Properties
	for _, n := range g.distinct(low, 2) {
		switch g.upTo(2) {
		case 0:
			m := &Map{}
			for i := range g.upTo(2) {
				m.Entries = append(m.Entries, MapEntry{&Constant{ConstString, fmt.Sprint("k", i)}, g.constant()})
			}
			if g.chance(4) {
				n = "custom_properties"
				inner := &Map{[]MapEntry{{&Constant{ConstString, "mode"}, g.constant()}}}
				m.Entries = append(m.Entries, MapEntry{&Constant{ConstString, "deep"}, inner})
			}
			if slices.ContainsFunc(ps, func(p Property) bool { return p.Name == n }) {
				continue
			}
			ps = append(ps, Property{n, m})
		case 1:
			ps = append(ps, Property{n, &Column{pick(g, "all", "text", "ttl")}})
		default:
			ps = append(ps, Property{n, g.constant()})
		}
	}
	return ps
}

func (g *generator) mask() Expr {
	if !g.chance(3) {
		return nil
	}
	return &Call{Func: g.name(), Args: list(g, 0, 2, func() Expr { return g.term(1) })}
}

func (g *generator) columns(low int, static bool) []ColumnDef {
	var cs []ColumnDef
	for _, n := range g.distinct(low, 3) {
		c := ColumnDef{Name: n, Type: g.typeRef(2)}
		if static {
			c.Static, c.Mask = g.chance(3), g.mask()
		}
		cs = append(cs, c)
	}
	return cs
}

func (g *generator) orderings() []Ordering {
	var o []Ordering
	for _, n := range g.distinct(0, 2) {
		o = append(o, Ordering{Column: n, Desc: g.chance(2)})
	}
	return o
}

func (g *generator) createTable() *CreateTable {
	s := &CreateTable{Name: g.name(), IfNotExists: g.chance(2), Columns: g.columns(1, true)}
	if g.chance(3) {
		s.Columns[0].PrimaryKey = true
	} else {
		s.PartitionKey, s.Clustering = list(g, 1, 2, g.ident), list(g, 0, 2, g.ident)
	}
	s.Order, s.CompactStorage, s.With = g.orderings(), g.chance(4), g.properties(0)
	return s
}

func (g *generator) alterTable() *AlterTable {
	s := &AlterTable{Name: g.name(), IfExists: g.chance(2)}
	switch g.upTo(7) {
	case 0:
		s.Add, s.AddIfNotExists = g.columns(1, true), g.chance(2)
	case 1:
		s.Drop, s.DropIfExists = list(g, 1, 2, g.ident), g.chance(2)
		if g.chance(2) {
			s.DropTimestamp = &Constant{ConstInteger, "12"}
		}
	case 2:
		s.Rename, s.RenameIfExists = g.renames(), g.chance(2)
	case 3:
		s.DropCompactStorage = true
	case 4:
		t := g.typeRef(1)
		s.AlterColumn, s.AlterType = g.ident(), &t
	case 5:
		s.AlterColumn, s.AlterIfExists, s.DropMask = g.ident(), g.chance(2), true
	case 6:
		s.AlterColumn, s.AlterIfExists = g.ident(), g.chance(2)
		s.Mask = &Call{Func: g.name()}
	default:
		s.With = g.properties(1)
	}
	return s
}

func (g *generator) renames() []Rename {
	return list(g, 1, 2, func() Rename { return Rename{g.ident(), g.ident()} })
}

func (g *generator) statement() Statement {
	switch g.upTo(16) {
	case 0, 1, 2, 3:
		return g.selectStatement()
	case 4:
		return g.insert()
	case 5:
		return g.update()
	case 6:
		return g.delete()
	case 7:
		b := &Batch{Kind: pick(g, BatchLogged, BatchUnlogged, BatchCounter), Using: g.using(true)}
		for range g.upTo(3) {
			b.Statements = append(b.Statements, pick(g, func() Statement { return g.insert() },
				func() Statement { return g.update() }, func() Statement { return g.delete() })())
		}
		return b
	case 8:
		return g.createTable()
	case 9:
		return g.alterTable()
	case 10:
		return &CreateType{Name: g.name(), IfNotExists: g.chance(2), Fields: g.columns(1, false)}
	case 11:
		s := &AlterType{Name: g.name(), IfExists: g.chance(2)}
		switch g.upTo(2) {
		case 0:
			s.Add, s.AddIfNotExists = g.columns(1, false)[:1], g.chance(2)
		case 1:
			s.Rename, s.RenameIfExists = g.renames(), g.chance(2)
		default:
			t := g.typeRef(1)
			s.AlterField, s.AlterFieldType = g.ident(), &t
		}
		return s
	case 12:
		s := &CreateIndex{Table: g.name(), Custom: g.chance(2), IfNotExists: g.chance(2), With: g.properties(0)}
		if g.chance(2) {
			s.Name = g.ident()
		}
		if g.chance(2) {
			s.Class = "sai's"
		}
		s.Targets = list(g, 0, 2, func() IndexTarget { return IndexTarget{pick(g, "", "keys", "values", "entries", "full"), g.ident()} })
		return s
	case 13:
		s := &CreateView{Name: g.name(), IfNotExists: g.chance(2), PartitionKey: list(g, 1, 2, g.ident),
			Clustering: list(g, 0, 2, g.ident), Order: g.orderings(), With: g.properties(0)}
		s.Select.Selectors = list(g, 0, 2, func() Selector { return Selector{Expr: &Column{g.ident()}} })
		s.Select.From, s.Select.Where = g.name(), list(g, 0, 2, g.relation)
		return s
	case 14:
		s := &Drop{Kind: pick(g, KindKeyspace, KindTable, KindType, KindIndex, KindView), Name: g.name(), IfExists: g.chance(2)}
		if s.Kind == KindKeyspace {
			s.Name.Keyspace = ""
		}
		return s
	case 15:
		d := &Describe{What: pick(g, "", "CLUSTER", "SCHEMA", "KEYSPACE", "TABLE", "INDEX", "MATERIALIZED VIEW", "TYPE",
			"FUNCTION", "AGGREGATE", "TABLES"), Internals: g.chance(2)}
		switch d.What {
		case "CLUSTER", "TABLES":
		case "SCHEMA":
			d.Full = g.chance(2)
		case "KEYSPACE":
			d.Only, d.Name.Name = g.chance(2), g.ident()
		default:
			d.Name = g.name()
		}
		return d
	}
	switch g.upTo(3) {
	case 0:
		return &Use{g.ident()}
	case 1:
		return &Truncate{g.name()}
	case 2:
		return &CreateKeyspace{g.ident(), g.chance(2), g.properties(1)}
	}
	return &AlterKeyspace{g.ident(), g.chance(2), g.properties(1)}
}

// TestPrintedStatementsParse checks the promise that Parse(Print(s)) = s, and Target's promise that
// it agrees with Parse.
func TestPrintedStatementsParse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := generator{T: rt}
		s := g.statement()
		renumber(s)
		checkRoundTrip(rt, s)
		checkTarget(rt, Print(s), s)
	})
}
