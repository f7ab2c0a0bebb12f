// SPDX-License-Identifier: Apache-2.0

package syntax

import "strings"

// The parser reads the statements of this file to the end, so that it refuses what Cassandra
// refuses. It keeps only their head: they become Other.

func (p *adminParser) other(verb string, object ObjectKind, name Name) *Other {
	end := len(p.text)
	if last := p.toks[p.pos]; p.pos < len(p.toks)-1 {
		end = int(last.pos)
	} else if p.pos > 0 {
		end = int(p.toks[p.pos-1].end)
	}
	return &Other{Verb: verb, Object: object, Name: name, Text: strings.TrimSpace(p.text[:end])}
}

func (s *Other) ifExists(is bool) *Other {
	s.IfExists = is
	return s
}

func (s *Other) on(kind ObjectKind, name Name) *Other {
	s.OnKind, s.On = kind, name
	return s
}

// verb returns the current token, a keyword, in upper case.
func (p *adminParser) verb() string { return upper(p.textOf(p.toks[p.pos])) }

func (p *adminParser) alterView() Statement {
	p.skip(2)
	p.expect(kView)
	exists := p.ifExists()
	name := p.tableName()
	p.expect(kWith)
	p.properties()
	return p.other("ALTER", KindView, name).ifExists(exists)
}

func (p *adminParser) createTrigger() Statement {
	p.skip(2)
	p.ifNotExists()
	name := p.ident()
	p.expect(kOn)
	on := p.tableName()
	p.expectAll(kUsing, tString)
	return p.other("CREATE", KindTrigger, Name{on.Keyspace, name}).on(KindTable, on)
}

func (p *adminParser) dropTrigger() Statement {
	p.skip(2)
	exists := p.ifExists()
	name := p.ident()
	p.expect(kOn)
	on := p.tableName()
	return p.other("DROP", KindTrigger, Name{on.Keyspace, name}).ifExists(exists).on(KindTable, on)
}

// orReplace skips CREATE [OR REPLACE] FUNCTION|AGGREGATE [IF NOT EXISTS].
func (p *adminParser) orReplace() {
	p.advance()
	if p.accept(kOr) {
		p.expect(kReplace)
	}
	p.advance()
	p.ifNotExists()
}

func (p *adminParser) createFunction() Statement {
	p.orReplace()
	name := p.functionName()
	p.expect(tLParen)
	if isIdent[p.kind()] {
		for {
			p.ident()
			p.typeRef()
			if !p.accept(tComma) {
				break
			}
		}
	}
	p.expect(tRParen)
	switch {
	case p.accept(kReturns):
		p.expect(kNull)
	case !p.accept(kCalled):
		p.noViable(0)
	}
	p.expectAll(kOn, kNull, kInput, kReturns)
	p.typeRef()
	p.expectAll(kLanguage, tIdent, kAs, tString)
	return p.other("CREATE", KindFunction, name)
}

func (p *adminParser) createAggregate() Statement {
	p.orReplace()
	name := p.functionName()
	p.typeList()
	p.expect(kSfunc)
	p.bareFunction()
	p.expect(kStype)
	p.typeRef()
	if p.accept(kFinalfunc) {
		p.bareFunction()
	}
	if p.accept(kInitcond) {
		p.term()
	}
	return p.other("CREATE", KindAggregate, name)
}

// bareFunction reads a function's name without a keyspace.
func (p *adminParser) bareFunction() {
	if !isFunction[p.kind()] {
		p.noViable(0)
	}
	p.advance()
}

func (p *adminParser) typeList() {
	p.expect(tLParen)
	if startsType(p.kind()) {
		p.typeRef()
		for p.accept(tComma) {
			p.typeRef()
		}
	}
	p.expect(tRParen)
}

func (p *adminParser) dropFunction() Statement {
	p.advance()
	object := ObjectKind(p.verb())
	p.advance()
	exists := p.ifExists()
	name := p.functionName()
	if p.kind() == tLParen {
		p.typeList()
	}
	return p.other("DROP", object, name).ifExists(exists)
}

// userStatement parses CREATE, ALTER or DROP USER, starting at the verb.
func (p *adminParser) userStatement() Statement {
	verb := p.verb()
	p.skip(2)
	exists := p.ifClauseOf(verb)
	name := p.userName("Quoted strings are are not supported for user names and USER is deprecated, please use ROLE")
	if verb != "DROP" {
		if p.accept(kWith) {
			p.accept(kHashed)
			p.expectAll(kPassword, tString)
		}
		if !p.accept(kSuperuser) {
			p.accept(kNosuperuser)
		}
	}
	return p.other(verb, KindUser, Name{Name: name}).ifExists(exists)
}

// ifClauseOf parses the IF clause that fits a verb, and reports whether it is IF EXISTS.
func (p *adminParser) ifClauseOf(verb string) bool {
	if verb == "CREATE" {
		p.ifNotExists()
		return false
	}
	return p.ifExists()
}

// userName reads the name of a user or an identity. It may not be in double quotes.
func (p *adminParser) userName(quoted string) string {
	t := p.toks[p.pos]
	switch t.kind {
	case tQuoted:
		p.wrong(quoted)
	case tString, tIdent:
	default:
		p.noViable(0)
		return ""
	}
	p.advance()
	return tokenText(p.text, t)
}

// roleStatement parses CREATE, ALTER or DROP ROLE, starting at the verb.
func (p *adminParser) roleStatement() Statement {
	verb := p.verb()
	p.skip(2)
	exists := p.ifClauseOf(verb)
	name := p.roleName()
	if verb != "DROP" && p.accept(kWith) {
		var plain, hashed bool
		for {
			p.roleOption(&plain, &hashed)
			if !p.accept(kAnd) {
				break
			}
		}
		if plain && hashed && !p.failed {
			p.fail(failure{err: &SyntaxError{Column: -1,
				Message: "Options 'password' and 'hashed password' are mutually exclusive"}})
		}
	}
	return p.other(verb, KindRole, Name{Name: name}).ifExists(exists)
}

func (p *adminParser) roleOption(plain, hashed *bool) {
	switch k := p.kind(); k {
	case kPassword:
		p.advance()
		p.expectAll(tEQ, tString)
		*plain = true
	case kHashed:
		p.advance()
		p.expectAll(kPassword, tEQ, tString)
		*hashed = true
	case kOptions:
		p.advance()
		p.expect(tEQ)
		p.propertyMap("")
	case kSuperuser, kLogin:
		p.advance()
		p.expectAll(tEQ, tBoolean)
	case kAccess:
		p.access()
	default:
		p.noViable(0)
	}
}

// access parses ACCESS TO [ALL] DATACENTERS … and ACCESS FROM [ALL] CIDRS ….
func (p *adminParser) access() {
	what := kDatacenters
	switch p.ahead(1) {
	case kTo:
	case kFrom:
		what = kCIDRs
	default:
		p.noViable(1)
		return
	}
	switch p.ahead(2) {
	case kAll:
		p.skip(3)
		p.expect(what)
		return
	case what:
		p.skip(3)
	default:
		p.noViable(2)
		return
	}
	p.expect(tLBrace)
	p.expect(tString)
	for p.accept(tComma) {
		p.expect(tString)
	}
	p.expect(tRBrace)
}

func (p *adminParser) addIdentityStatement() Statement {
	p.advance()
	p.expect(kIdentity)
	p.ifNotExists()
	name := p.userName(noQuotedIdentity)
	p.expectAll(kTo, kRole)
	p.userName(noQuotedIdentity)
	return p.other("ADD", "IDENTITY", Name{Name: name})
}

const noQuotedIdentity = "Quoted strings are are not supported for identity"

func (p *adminParser) dropIdentity() Statement {
	p.skip(2)
	exists := p.ifExists()
	name := p.userName(noQuotedIdentity)
	return p.other("DROP", "IDENTITY", Name{Name: name}).ifExists(exists)
}

// permissions is a set of permissions that GRANT, REVOKE and LIST can name.
type permissions uint16

const (
	mayCreate permissions = 1 << iota
	mayAlter
	mayDrop
	maySelect
	mayModify
	mayAuthorize
	mayDescribe
	mayExecute
	mayUnmask
	maySelectMasked
	mayAll permissions = 1<<iota - 1

	onTable    = mayAlter | mayDrop | maySelect | mayModify | mayAuthorize | mayUnmask | maySelectMasked
	onKeyspace = onTable | mayCreate
	onRole     = mayAlter | mayDrop | mayAuthorize | mayDescribe
	onRoles    = onRole | mayCreate
	onFunction = mayAlter | mayDrop | mayAuthorize | mayExecute
	onMbean    = mayAuthorize | mayDescribe | mayExecute | mayModify | maySelect
)

var permissionOf = [kindCount]permissions{kCreate: mayCreate, kAlter: mayAlter, kDrop: mayDrop, kSelect: maySelect,
	kModify: mayModify, kAuthorize: mayAuthorize, kDescribe: mayDescribe, kExecute: mayExecute, kUnmask: mayUnmask,
	kSelectMasked: maySelectMasked}

// grantStatement parses GRANT and REVOKE of permissions and of roles.
func (p *adminParser) grantStatement() Statement {
	verb := p.verb()
	toOrFrom := kTo
	if verb == "REVOKE" {
		toOrFrom = kFrom
	}
	first, next := p.ahead(1), p.ahead(2)
	// ALL, UNMASK and SELECT_MASKED can also be names of roles.
	switch {
	case first == kAll && next != kOn && next != kPermissions && next != toOrFrom,
		(first == kUnmask || first == kSelectMasked) && next != kOn && next != kPermission && next != tComma && next != toOrFrom:
		p.noViable(2)
		return nil
	}
	if permissionOf[first] != 0 && !(isIdent[first] && next == toOrFrom) || first == kAll && next != toOrFrom {
		p.advance()
		asked := p.permissionOrAll()
		p.expect(kOn)
		res := p.resource()
		p.expect(toOrFrom)
		name := p.roleName()
		if asked&res.has == 0 && !p.failed {
			p.wrong("Resource type " + res.class + " does not support any of the requested permissions")
		}
		return p.other(verb, "", Name{Name: name}).on(res.kind, res.name)
	}
	if !isIdent[first] && first != tString && first != tQMark {
		p.noViable(1)
		return nil
	}
	p.advance()
	name := p.roleName()
	p.expect(toOrFrom)
	p.roleName()
	return p.other(verb, KindRole, Name{Name: name})
}

func (p *adminParser) permissionOrAll() permissions {
	if p.accept(kAll) {
		p.accept(kPermissions)
		return mayAll
	}
	if permissionOf[p.kind()] == 0 {
		p.noViable(0)
		return 0
	}
	var set permissions
	for {
		k := p.kind()
		if permissionOf[k] == 0 {
			p.fail(failure{bad: p.pos, at: p.pos, expecting: "set null"})
		}
		set |= permissionOf[k]
		p.advance()
		p.accept(kPermission)
		if !p.accept(tComma) {
			return set
		}
	}
}

// resource is an object that permissions are granted on: its class in the reference parser, the
// permissions that it has, and its name for Other.
type resource struct {
	class string
	has   permissions
	kind  ObjectKind
	name  Name
}

func (p *adminParser) resource() resource {
	data := func(has permissions, kind ObjectKind, name Name) resource {
		return resource{"DataResource", has, kind, name}
	}
	k := p.kind()
	if k == kKeyspace {
		p.advance()
		return data(onKeyspace, KindKeyspace, Name{Keyspace: p.keyspaceName()})
	}
	if !isIdent[k] && k != kColumnFamily && k != tQMark {
		p.noViable(0)
		return resource{}
	}
	next := p.ahead(1)
	switch {
	case k == kAll && next == kKeyspaces:
		p.skip(2)
		return data(onKeyspace, "", Name{})
	case k == kAll && next == kMbeans:
		p.skip(2)
		return resource{class: "JMXResource", has: onMbean}
	case k == kAll && next == kRoles:
		p.skip(2)
		return resource{class: "RoleResource", has: onRoles}
	case k == kAll && next == kTables:
		p.skip(2)
		p.expectAll(kIn, kKeyspace)
		return data(onKeyspace, KindTables, Name{Keyspace: p.keyspaceName()})
	case k == kAll && next == kFunctions:
		p.skip(2)
		r := resource{class: "FunctionResource", has: onFunction | mayCreate}
		if p.accept(kIn) {
			p.expect(kKeyspace)
			r.kind, r.name.Keyspace = KindFunctions, p.keyspaceName()
		}
		return r
	case k == kColumnFamily:
		p.advance()
	case (k == kMbean || k == kMbeans) && next == tString:
		p.skip(2)
		return resource{class: "JMXResource", has: onMbean}
	case k == kRole && (isIdent[next] || next == tString || next == tQMark):
		p.advance()
		p.roleName()
		return resource{class: "RoleResource", has: onRole}
	case k == kFunction && (isIdent[next] || isFunction[next] || next == tQMark):
		p.advance()
		r := resource{"FunctionResource", onFunction, KindFunction, p.functionName()}
		p.typeList()
		return r
	}
	return data(onTable, KindTable, p.tableName())
}

// listStatement parses LIST ROLES, LIST USERS and LIST permissions.
func (p *adminParser) listStatement() Statement {
	p.advance()
	switch p.kind() {
	case kUsers:
		p.advance()
		return p.other("LIST", KindUser, Name{})
	case kRoles:
		p.advance()
		if p.accept(kOf) {
			p.roleName()
		}
		p.accept(kNorecursive)
		return p.other("LIST", KindRole, Name{})
	}
	if k := p.kind(); k != kAll && permissionOf[k] == 0 {
		p.pos--
		p.noViable(1)
		return nil
	}
	p.permissionOrAll()
	var res resource
	if p.accept(kOn) {
		res = p.resource()
	}
	if p.accept(kOf) {
		p.roleName()
	}
	p.accept(kNorecursive)
	return p.other("LIST", "", Name{}).on(res.kind, res.name)
}
