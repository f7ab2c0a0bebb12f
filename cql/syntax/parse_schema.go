// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strconv"
)

func (p *schemaParser) createTable() Statement {
	s := &CreateTable{IfNotExists: p.ifNotExists(), Name: p.tableName()}
	p.expect(tLParen)
	b := tableBuilder{schemaParser: p, table: s}
	b.element()
	for p.accept(tComma) {
		if k := p.kind(); isIdent[k] || k == kPrimary {
			b.element()
		}
	}
	p.expect(tRParen)
	if p.accept(kWith) {
		for {
			b.property()
			if !p.accept(kAnd) {
				break
			}
		}
	}
	return s
}

// tableBuilder collects the items of a CREATE TABLE and refuses what Cassandra's parser refuses.
type tableBuilder struct {
	*schemaParser
	table   *CreateTable
	columns names
	keyed   bool
}

func (b *tableBuilder) element() {
	if b.kind() == kPrimary {
		b.advance()
		b.expect(kKey)
		var partition, clustering []string
		partition, clustering = b.primaryKey(func() { b.primary() })
		b.table.PartitionKey, b.table.Clustering = partition, clustering
		return
	}
	c := ColumnDef{Name: b.ident(), Type: b.typeRef()}
	c.Static = b.accept(kStatic)
	c.Mask = b.mask()
	if b.failed {
		return
	}
	if b.columns.again(c.Name) {
		b.invalid(fmt.Sprintf("Duplicate column '%s' declaration for table '%s'", c.Name, b.table.Name.Name))
		return
	}
	if b.accept(kPrimary) {
		b.expect(kKey)
		b.primary()
		c.PrimaryKey = true
	}
	b.table.Columns = append(b.table.Columns, c)
}

func (b *tableBuilder) primary() {
	if b.keyed && !b.failed {
		b.invalid(fmt.Sprintf("Multiple PRIMARY KEY specified for table '%s' (exactly one required)", b.table.Name.Name))
	}
	b.keyed = true
}

// primaryKey reads ((a, b), c, d) or (a, c, d). It calls partitioned after it has read the
// partition key.
func (p *schemaParser) primaryKey(partitioned func()) (partition, clustering []string) {
	p.expect(tLParen)
	switch k := p.kind(); {
	case k == tLParen:
		p.advance()
		partition = p.idents()
		p.expect(tRParen)
	case isIdent[k]:
		partition = []string{p.ident()}
	default:
		p.noViable(0)
	}
	partitioned()
	for p.accept(tComma) {
		clustering = append(clustering, p.ident())
	}
	p.expect(tRParen)
	return partition, clustering
}

func (p *schemaParser) idents() []string {
	list := []string{p.ident()}
	for p.accept(tComma) {
		list = append(list, p.ident())
	}
	return list
}

func (b *tableBuilder) property() {
	switch k := b.kind(); {
	case k == kCompact && b.ahead(1) == kStorage:
		b.skip(2)
		b.table.CompactStorage = true
	case k == kClustering && b.ahead(1) == kOrder:
		b.table.Order = b.clusteringOrder(b.table.Order, b.table.Name.Name)
	case (k == kCompact || k == kClustering) && b.ahead(1) != tEQ:
		b.noViable(1)
	default:
		b.table.With = b.schemaParser.property(b.table.With)
	}
}

// clusteringOrder reads CLUSTERING ORDER BY (…) and appends it to the given list of an earlier one.
func (p *schemaParser) clusteringOrder(given []Ordering, table string) []Ordering {
	p.skip(2)
	p.expect(kBy)
	p.expect(tLParen)
	for {
		o := Ordering{Column: p.ident()}
		switch {
		case p.accept(kDesc):
			o.Desc = true
		case !p.accept(kAsc):
			p.noViable(0)
		}
		if !p.failed && p.orders.again(o.Column) {
			p.invalid(fmt.Sprintf("Duplicate column '%s' in CLUSTERING ORDER BY clause for table '%s'", o.Column, table))
		}
		given = append(given, o)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return given
}

// mask reads MASKED WITH function(…) or MASKED WITH DEFAULT; nil if absent.
func (p *schemaParser) mask() Expr {
	if p.kind() != kMasked {
		return nil
	}
	if p.ahead(1) != kWith {
		p.noViable(1)
		return nil
	}
	p.skip(2)
	if p.kind() == kDefault && p.ahead(1) != tLParen && p.ahead(1) != tDot {
		p.advance()
		return &Call{Func: Name{Keyspace: "system", Name: "mask_default"}}
	}
	c := &Call{Func: p.functionName()}
	p.expect(tLParen)
	if !p.accept(tRParen) {
		c.Args = p.terms()
		p.expect(tRParen)
	}
	return c
}

func (p *schemaParser) createType() Statement {
	s := &CreateType{IfNotExists: p.ifNotExists(), Name: p.userTypeName()}
	p.expect(tLParen)
	s.Fields = append(s.Fields, p.field())
	for p.accept(tComma) {
		if isIdent[p.kind()] {
			s.Fields = append(s.Fields, p.field())
		}
	}
	p.expect(tRParen)
	return s
}

func (p *schemaParser) field() ColumnDef { return ColumnDef{Name: p.ident(), Type: p.typeRef()} }

func (p *schemaParser) createIndex() Statement {
	s := &CreateIndex{Custom: p.accept(kCustom)}
	p.expect(kIndex)
	s.IfNotExists = p.ifNotExists()
	if k := p.kind(); isIdent[k] || k == tQMark {
		s.Name = p.objectIdent("index")
	}
	p.expect(kOn)
	s.Table = p.tableName()
	p.expect(tLParen)
	if k := p.kind(); isColumnIdent(k) || k == kEntries || k == kFull {
		for {
			s.Targets = append(s.Targets, p.indexTarget())
			if !p.accept(tComma) {
				break
			}
		}
	}
	p.expect(tRParen)
	if p.accept(kUsing) {
		if t := p.expect(tString); !p.failed {
			s.Class = unquoteString(p.textOf(t))
		}
	}
	if p.accept(kWith) {
		s.With = p.properties()
	}
	return s
}

func (p *schemaParser) indexTarget() IndexTarget {
	k := p.kind()
	switch {
	case k == kEntries || k == kFull, (k == kValues || k == kKeys) && p.ahead(1) == tLParen:
		t := IndexTarget{Function: lower(p.textOf(p.advance()))}
		p.expect(tLParen)
		t.Column = p.columnIdent()
		p.expect(tRParen)
		return t
	}
	return IndexTarget{Column: p.columnIdent()}
}

func (p *schemaParser) createView() Statement {
	p.expect(kView)
	s := &CreateView{IfNotExists: p.ifNotExists(), Name: p.tableName()}
	p.expectAll(kAs, kSelect)
	s.Select.Selectors = p.selectors()
	p.expect(kFrom)
	s.Select.From = p.tableName()
	if p.accept(kWhere) {
		s.Select.Where = p.where()
	}
	p.expectAll(kPrimary, kKey)
	s.PartitionKey, s.Clustering = p.primaryKey(func() {})
	if p.accept(kWith) {
		for {
			p.viewProperty(s)
			if !p.accept(kAnd) {
				break
			}
		}
	}
	return s
}

func (p *schemaParser) viewProperty(s *CreateView) {
	switch k := p.kind(); {
	case k == kCompact && p.ahead(1) == kStorage:
		p.fail(failure{err: &SyntaxError{Column: -1,
			Message: "COMPACT STORAGE tables are not allowed starting with version 4.0"}})
	case k == kClustering && p.ahead(1) == kOrder:
		s.Order = p.clusteringOrder(s.Order, s.Name.Name)
	case (k == kCompact || k == kClustering) && p.ahead(1) != tEQ:
		p.noViable(1)
	default:
		s.With = p.property(s.With)
	}
}

func (p *schemaParser) alterTable() Statement {
	s := &AlterTable{IfExists: p.ifExists(), Name: p.tableName()}
	switch p.kind() {
	case kAlter:
		if k := p.ahead(1); !isColumnIdent(k) && k != kIf {
			p.noViable(1)
			return s
		} else if k != kIf && p.ahead(2) != kMasked && p.ahead(2) != kDrop && p.ahead(2) != kType {
			p.noViable(2)
			return s
		}
		p.advance()
		p.alterColumn(s)
	case kAdd:
		p.advance()
		s.AddIfNotExists = p.ifNotExists()
		if p.accept(tLParen) {
			s.Add = append(s.Add, p.addedColumn())
			for p.accept(tComma) {
				s.Add = append(s.Add, p.addedColumn())
			}
			p.expect(tRParen)
		} else {
			s.Add = append(s.Add, p.addedColumn())
		}
	case kDrop:
		p.dropColumns(s)
	case kRename:
		p.advance()
		s.RenameIfExists = p.ifExists()
		s.Rename = p.renames()
	case kWith:
		p.advance()
		s.With = p.properties()
	default:
		p.noViable(0)
	}
	return s
}

func (p *schemaParser) alterColumn(s *AlterTable) {
	s.AlterIfExists = p.ifExists()
	s.AlterColumn = p.columnIdent()
	switch {
	case p.kind() != kMasked && p.kind() != kDrop && (p.kind() != kType || s.AlterIfExists):
		p.noViable(0)
	case p.accept(kType):
		t := p.typeRef()
		s.AlterType = &t
	case p.accept(kDrop):
		p.expect(kMasked)
		s.DropMask = true
	default:
		s.Mask = p.mask()
	}
}

func (p *schemaParser) addedColumn() ColumnDef {
	c := ColumnDef{Name: p.ident(), Type: p.typeRef()}
	c.Static = p.accept(kStatic)
	c.Mask = p.mask()
	return c
}

func (p *schemaParser) dropColumns(s *AlterTable) {
	if p.ahead(1) == kCompact && p.ahead(2) == kStorage {
		p.skip(3)
		s.DropCompactStorage = true
		return
	}
	if k := p.ahead(1); !isIdent[k] && k != tLParen && k != kIf {
		p.noViable(1)
		return
	}
	p.advance()
	s.DropIfExists = p.ifExists()
	switch k := p.kind(); {
	case k == tLParen:
		p.advance()
		s.Drop = p.idents()
		p.expect(tRParen)
	case isIdent[k]:
		s.Drop = []string{p.ident()}
	default:
		p.noViable(0)
	}
	if p.accept(kUsing) {
		p.expect(kTimestamp)
		if t := p.expect(tInteger); !p.failed {
			text := p.textOf(t)
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				p.unparsable("NumberFormatException", `For input string: "`+text+`"`)
			}
			s.DropTimestamp = &Constant{Kind: ConstInteger, Text: text}
		}
	}
}

func (p *schemaParser) renames() []Rename {
	var list []Rename
	for {
		r := Rename{From: p.ident()}
		p.expect(kTo)
		r.To = p.ident()
		list = append(list, r)
		if !p.accept(kAnd) {
			return list
		}
	}
}

func (p *schemaParser) alterType() Statement {
	s := &AlterType{IfExists: p.ifExists(), Name: p.userTypeName()}
	switch p.kind() {
	case kAlter:
		p.advance()
		s.AlterField = p.ident()
		p.expect(kType)
		t := p.typeRef()
		s.AlterFieldType = &t
	case kAdd:
		p.advance()
		s.AddIfNotExists = p.ifNotExists()
		s.Add = []ColumnDef{p.field()}
	case kRename:
		p.advance()
		s.RenameIfExists = p.ifExists()
		s.Rename = p.renames()
	default:
		p.noViable(0)
	}
	return s
}
