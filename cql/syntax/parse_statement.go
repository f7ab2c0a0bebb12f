// SPDX-License-Identifier: Apache-2.0

package syntax

// statement chooses the rule by the first tokens.
func (p *parser) statement() Statement {
	switch p.kind() {
	case kSelect:
		return p.selectStatement()
	case kInsert:
		return p.insertStatement()
	case kUpdate:
		return p.updateStatement()
	case kDelete:
		return p.deleteStatement()
	case kBegin:
		return p.batchStatement()
	case kUse:
		p.advance()
		return &Use{Keyspace: p.keyspaceName()}
	case kTruncate:
		p.advance()
		p.accept(kColumnFamily)
		return &Truncate{Table: p.tableName()}
	case kCreate:
		return p.createStatement()
	case kAlter:
		return p.alterStatement()
	case kDrop:
		return p.dropStatement()
	case kDescribe, kDesc:
		return p.describeStatement()
	case kGrant, kRevoke:
		return p.grantStatement()
	case kList:
		return p.listStatement()
	case kAdd:
		return p.addIdentityStatement()
	}
	p.noViable(0)
	return nil
}

// createStatement parses CREATE. The next word chooses the rule.
func (p *parser) createStatement() Statement {
	switch p.ahead(1) {
	case kKeyspace:
		p.skip(2)
		s := &CreateKeyspace{IfNotExists: p.ifNotExists(), Name: p.keyspaceName()}
		p.expect(kWith)
		s.With = p.properties()
		return s
	case kColumnFamily:
		p.skip(2)
		return p.createTable()
	case kType:
		p.skip(2)
		return p.createType()
	case kCustom, kIndex:
		p.skip(1)
		return p.createIndex()
	case kMaterialized:
		p.skip(2)
		return p.createView()
	case kTrigger:
		return p.createTrigger()
	case kFunction:
		return p.createFunction()
	case kAggregate:
		return p.createAggregate()
	case kOr:
		if p.ahead(2) != kReplace {
			p.noViable(2)
			return nil
		}
		switch p.ahead(3) {
		case kFunction:
			return p.createFunction()
		case kAggregate:
			return p.createAggregate()
		}
		p.noViable(3)
		return nil
	case kUser:
		return p.userStatement()
	case kRole:
		return p.roleStatement()
	}
	p.noViable(1)
	return nil
}

// alterStatement parses ALTER. The next word chooses the rule.
func (p *parser) alterStatement() Statement {
	switch p.ahead(1) {
	case kKeyspace:
		p.skip(2)
		s := &AlterKeyspace{IfExists: p.ifExists(), Name: p.keyspaceName()}
		p.expect(kWith)
		s.With = p.properties()
		return s
	case kColumnFamily:
		p.skip(2)
		return p.alterTable()
	case kType:
		p.skip(2)
		return p.alterType()
	case kMaterialized:
		return p.alterView()
	case kUser:
		return p.userStatement()
	case kRole:
		return p.roleStatement()
	}
	p.noViable(1)
	return nil
}

// dropStatement parses DROP. The next word chooses the rule.
func (p *parser) dropStatement() Statement {
	s := &Drop{}
	switch p.ahead(1) {
	case kKeyspace:
		p.skip(2)
		s.Kind, s.IfExists = KindKeyspace, p.ifExists()
		s.Name.Name = p.keyspaceName()
	case kColumnFamily:
		p.skip(2)
		s.Kind, s.IfExists = KindTable, p.ifExists()
		s.Name = p.tableName()
	case kType:
		p.skip(2)
		s.Kind, s.IfExists = KindType, p.ifExists()
		s.Name = p.userTypeName()
	case kIndex:
		p.skip(2)
		s.Kind, s.IfExists = KindIndex, p.ifExists()
		s.Name = p.qualifiedName("index", afterIndex)
	case kMaterialized:
		p.skip(2)
		p.expect(kView)
		s.Kind, s.IfExists = KindView, p.ifExists()
		s.Name = p.tableName()
	case kFunction, kAggregate:
		return p.dropFunction()
	case kTrigger:
		return p.dropTrigger()
	case kUser:
		return p.userStatement()
	case kRole:
		return p.roleStatement()
	case kIdentity:
		return p.dropIdentity()
	default:
		p.noViable(1)
	}
	return s
}

// describeStatement parses DESCRIBE or DESC.
func (p *parser) describeStatement() Statement {
	p.advance()
	d := &Describe{}
	plural := map[kind]string{kCluster: "CLUSTER", kKeyspaces: "KEYSPACES", kTables: "TABLES",
		kTypes: "TYPES", kFunctions: "FUNCTIONS", kAggregates: "AGGREGATES"}
	k := p.kind()
	what, isPlural := plural[k]
	switch {
	case isPlural && p.ahead(1) != tDot:
		d.What = what
		p.advance()
	case k == kFull || k == kSchema:
		d.Full = p.accept(kFull)
		p.expect(kSchema)
		d.What = "SCHEMA"
	case k == kKeyspace, k == kOnly && p.ahead(1) == kKeyspace:
		d.Only = p.accept(kOnly)
		p.advance()
		d.What = "KEYSPACE"
		if k := p.kind(); isIdent[k] || k == tQMark {
			d.Name.Name = p.keyspaceName()
		}
	case k == kColumnFamily:
		p.advance()
		d.What, d.Name = "TABLE", p.tableName()
	case k == kIndex:
		p.advance()
		d.What, d.Name = "INDEX", p.tableName()
	case k == kMaterialized:
		p.advance()
		p.expect(kView)
		d.What, d.Name = "MATERIALIZED VIEW", p.tableName()
	case k == kType && isIdent[p.ahead(1)]:
		p.advance()
		d.What, d.Name = "TYPE", p.userTypeName()
	case k == kFunction && (isFunction[p.ahead(1)] || isIdent[p.ahead(1)]):
		p.advance()
		d.What, d.Name = "FUNCTION", p.functionName()
	case k == kAggregate && (isFunction[p.ahead(1)] || isIdent[p.ahead(1)]):
		p.advance()
		d.What, d.Name = "AGGREGATE", p.functionName()
	case isIdent[k]:
		switch next := p.ahead(1); next {
		case tDot:
			d.Name.Keyspace = p.ident()
			p.advance()
		case tEOF, tSemicolon, kWith:
		default:
			p.noViable(1)
		}
		d.Name.Name = p.ident()
	default:
		p.noViable(0)
	}
	if p.accept(kWith) {
		p.expect(kInternals)
		d.Internals = true
	}
	return d
}
