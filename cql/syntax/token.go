// SPDX-License-Identifier: Apache-2.0

package syntax

// kind is the lexical class of a token. Each keyword has its own kind, because the grammar
// distinguishes them everywhere.
type kind uint8

const (
	tEOF kind = iota
	tIdent
	tQuoted      // "Name"
	tEmptyQuoted // ""
	tString
	tInteger
	tFloat
	tBoolean
	tDuration
	tUUID
	tHex
	tQMark
	tRange // ..
	tNE
	tPercent
	tLParen
	tRParen
	tPlus
	tPlusEQ
	tComma
	tMinus
	tMinusEQ
	tDot
	tSlash
	tColon
	tSemicolon
	tLT
	tLE
	tEQ
	tGT
	tGE
	tLBracket
	tStar
	tRBracket
	tExpr // "expr(" is one token of the grammar, in lower case and without a space
	tLBrace
	tRBrace
	tNegNaN
	tNegInfinity
	kAccess // the keywords begin here
	kAdd
	kAggregate
	kAggregates
	kAll
	kAllow
	kAlter
	kAnd
	kAnn
	kApply
	kAs
	kAsc
	kASCII
	kAuthorize
	kBatch
	kBegin
	kBigint
	kBlob
	kBoolean
	kBy
	kCalled
	kCast
	kCIDRs
	kCluster
	kClustering
	kColumnFamily
	kCompact
	kContains
	kCount
	kCounter
	kCreate
	kCustom
	kDatacenters
	kDate
	kDecimal
	kDefault
	kDelete
	kDesc
	kDescribe
	kDistinct
	kDouble
	kDrop
	kDuration
	kEntries
	kExecute
	kExists
	kFiltering
	kFinalfunc
	kFloat
	kFrom
	kFrozen
	kFull
	kFunction
	kFunctions
	kGrant
	kGroup
	kHashed
	kIdentity
	kIf
	kIn
	kIndex
	kInet
	kInitcond
	kInput
	kInsert
	kInt
	kInternals
	kInto
	kIs
	kJSON
	kKey
	kKeys
	kKeyspace
	kKeyspaces
	kLanguage
	kLike
	kLimit
	kList
	kLogin
	kMap
	kMasked
	kMaterialized
	kMaxwritetime
	kMbean
	kMbeans
	kModify
	kNologin
	kNorecursive
	kNosuperuser
	kNot
	kNull
	kOf
	kOn
	kOnly
	kOptions
	kOr
	kOrder
	kPartition
	kPassword
	kPer
	kPermission
	kPermissions
	kInfinity
	kNaN
	kPrimary
	kRename
	kReplace
	kReturns
	kRevoke
	kRole
	kRoles
	kSchema
	kSelect
	kSelectMasked
	kSet
	kSfunc
	kSmallint
	kStatic
	kStorage
	kStype
	kSuperuser
	kTables
	kText
	kTime
	kTimestamp
	kTimeuuid
	kTinyint
	kTo
	kToken
	kTrigger
	kTruncate
	kTTL
	kTuple
	kType
	kTypes
	kUnlogged
	kUnmask
	kUnset
	kUpdate
	kUse
	kUser
	kUsers
	kUsing
	kUUID
	kValues
	kVarchar
	kVarint
	kVector
	kView
	kWhere
	kWith
	kWritetime
	kindCount
)

// class tells whether the grammar accepts a keyword as an identifier.
type class uint8

const (
	reserved class = iota
	basic          // accepted wherever an identifier is
	native         // a native type: an identifier, but not the name of a user-defined type
	special        // an identifier, but not the name of a function: ttl, writetime, …
)

// keywords lists every keyword with its spelling and class. Error messages use the grammar's name
// of a kind: K_ and the first spelling in upper case.
var keywords = [...]struct {
	text  string
	kind  kind
	class class
}{
	{"access", kAccess, basic},
	{"add", kAdd, reserved},
	{"aggregate", kAggregate, basic},
	{"aggregates", kAggregates, basic},
	{"all", kAll, basic},
	{"allow", kAllow, reserved},
	{"alter", kAlter, reserved},
	{"and", kAnd, reserved},
	{"ann", kAnn, basic},
	{"apply", kApply, reserved},
	{"as", kAs, basic},
	{"asc", kAsc, reserved},
	{"ascii", kASCII, native},
	{"authorize", kAuthorize, reserved},
	{"batch", kBatch, reserved},
	{"begin", kBegin, reserved},
	{"bigint", kBigint, native},
	{"blob", kBlob, native},
	{"boolean", kBoolean, native},
	{"by", kBy, reserved},
	{"called", kCalled, basic},
	{"cast", kCast, special},
	{"cidrs", kCIDRs, basic},
	{"cluster", kCluster, basic},
	{"clustering", kClustering, basic},
	{"columnfamily", kColumnFamily, reserved},
	{"table", kColumnFamily, reserved},
	{"compact", kCompact, basic},
	{"contains", kContains, basic},
	{"count", kCount, special},
	{"counter", kCounter, native},
	{"create", kCreate, reserved},
	{"custom", kCustom, basic},
	{"datacenters", kDatacenters, basic},
	{"date", kDate, native},
	{"decimal", kDecimal, native},
	{"default", kDefault, basic},
	{"delete", kDelete, reserved},
	{"desc", kDesc, reserved},
	{"describe", kDescribe, reserved},
	{"distinct", kDistinct, special},
	{"double", kDouble, native},
	{"drop", kDrop, reserved},
	{"duration", kDuration, native},
	{"entries", kEntries, reserved},
	{"execute", kExecute, reserved},
	{"exists", kExists, basic},
	{"filtering", kFiltering, basic},
	{"finalfunc", kFinalfunc, basic},
	{"float", kFloat, native},
	{"from", kFrom, reserved},
	{"frozen", kFrozen, basic},
	{"full", kFull, reserved},
	{"function", kFunction, basic},
	{"functions", kFunctions, basic},
	{"grant", kGrant, reserved},
	{"group", kGroup, basic},
	{"hashed", kHashed, basic},
	{"identity", kIdentity, basic},
	{"if", kIf, reserved},
	{"in", kIn, reserved},
	{"index", kIndex, reserved},
	{"inet", kInet, native},
	{"initcond", kInitcond, basic},
	{"input", kInput, basic},
	{"insert", kInsert, reserved},
	{"int", kInt, native},
	{"internals", kInternals, basic},
	{"into", kInto, reserved},
	{"is", kIs, reserved},
	{"json", kJSON, special},
	{"key", kKey, special},
	{"keys", kKeys, basic},
	{"keyspace", kKeyspace, reserved},
	{"keyspaces", kKeyspaces, basic},
	{"language", kLanguage, basic},
	{"like", kLike, basic},
	{"limit", kLimit, reserved},
	{"list", kList, basic},
	{"login", kLogin, basic},
	{"map", kMap, basic},
	{"masked", kMasked, basic},
	{"materialized", kMaterialized, reserved},
	{"maxwritetime", kMaxwritetime, special},
	{"mbean", kMbean, basic},
	{"mbeans", kMbeans, basic},
	{"modify", kModify, reserved},
	{"nologin", kNologin, basic},
	{"norecursive", kNorecursive, reserved},
	{"nosuperuser", kNosuperuser, basic},
	{"not", kNot, reserved},
	{"null", kNull, reserved},
	{"of", kOf, reserved},
	{"on", kOn, reserved},
	{"only", kOnly, basic},
	{"options", kOptions, basic},
	{"or", kOr, reserved},
	{"order", kOrder, reserved},
	{"partition", kPartition, basic},
	{"password", kPassword, basic},
	{"per", kPer, basic},
	{"permission", kPermission, basic},
	{"permissions", kPermissions, basic},
	{"infinity", kInfinity, reserved},
	{"nan", kNaN, reserved},
	{"primary", kPrimary, reserved},
	{"rename", kRename, reserved},
	{"replace", kReplace, basic},
	{"returns", kReturns, basic},
	{"revoke", kRevoke, reserved},
	{"role", kRole, basic},
	{"roles", kRoles, basic},
	{"schema", kSchema, reserved},
	{"select", kSelect, reserved},
	{"select_masked", kSelectMasked, basic},
	{"set", kSet, reserved},
	{"sfunc", kSfunc, basic},
	{"smallint", kSmallint, native},
	{"static", kStatic, basic},
	{"storage", kStorage, basic},
	{"stype", kStype, basic},
	{"superuser", kSuperuser, basic},
	{"tables", kTables, basic},
	{"columnfamilies", kTables, basic},
	{"text", kText, native},
	{"time", kTime, native},
	{"timestamp", kTimestamp, native},
	{"timeuuid", kTimeuuid, native},
	{"tinyint", kTinyint, native},
	{"to", kTo, reserved},
	{"token", kToken, reserved},
	{"trigger", kTrigger, basic},
	{"truncate", kTruncate, reserved},
	{"ttl", kTTL, special},
	{"tuple", kTuple, basic},
	{"type", kType, basic},
	{"types", kTypes, basic},
	{"unlogged", kUnlogged, reserved},
	{"unmask", kUnmask, basic},
	{"unset", kUnset, basic},
	{"update", kUpdate, reserved},
	{"use", kUse, reserved},
	{"user", kUser, basic},
	{"users", kUsers, basic},
	{"using", kUsing, reserved},
	{"uuid", kUUID, native},
	{"values", kValues, basic},
	{"varchar", kVarchar, native},
	{"varint", kVarint, native},
	{"vector", kVector, basic},
	{"view", kView, reserved},
	{"where", kWhere, reserved},
	{"with", kWith, reserved},
	{"writetime", kWritetime, special},
	{"true", tBoolean, reserved},
	{"false", tBoolean, reserved},
}

const longestKeyword = len("columnfamilies")

var keywordKinds = func() map[string]kind {
	m := make(map[string]kind, len(keywords))
	for _, k := range keywords {
		m[k.text] = k.kind
	}
	return m
}()

// isIdent, isNative, isFunction and isUserType tell whether a kind can be an identifier, a native
// type, the name of a function, or the name of a user-defined type.
var isIdent, isNative, isFunction, isUserType = func() (ident, nat, fn, udt [kindCount]bool) {
	for _, k := range keywords {
		ident[k.kind] = k.class != reserved
		nat[k.kind] = k.class == native
		fn[k.kind] = k.class == basic || k.class == native
		udt[k.kind] = k.class == basic
	}
	for _, t := range [...]*[kindCount]bool{&ident, &fn, &udt} {
		t[tIdent], t[tQuoted] = true, true
	}
	fn[kToken], fn[kCount] = true, true
	udt[kKey] = true
	return
}()

// kindNames are the grammar's names of the kinds, as error messages show them.
var kindNames = func() [kindCount]string {
	n := [kindCount]string{
		tEOF: "EOF", tIdent: "IDENT", tQuoted: "QUOTED_NAME", tEmptyQuoted: "EMPTY_QUOTED_NAME",
		tString: "STRING_LITERAL", tInteger: "INTEGER", tFloat: "FLOAT", tBoolean: "BOOLEAN",
		tDuration: "DURATION", tUUID: "UUID", tHex: "HEXNUMBER", tQMark: "QMARK", tRange: "RANGE",
		tNE: "'!='", tPercent: "'%'", tLParen: "'('", tRParen: "')'", tPlus: "'+'", tPlusEQ: "'+='",
		tComma: "','", tMinus: "'-'", tMinusEQ: "'-='", tDot: "'.'", tSlash: "'/'", tColon: "':'",
		tSemicolon: "';'", tLT: "'<'", tLE: "'<='", tEQ: "'='", tGT: "'>'", tGE: "'>='",
		tLBracket: "'['", tStar: `'\*'`, tRBracket: "']'", tExpr: "'expr('", tLBrace: "'{'", tRBrace: "'}'",
		tNegNaN: "K_NEGATIVE_NAN", tNegInfinity: "K_NEGATIVE_INFINITY",
	}
	for _, k := range keywords {
		if n[k.kind] == "" {
			n[k.kind] = "K_" + upper(k.text)
		}
	}
	n[kNaN], n[kInfinity] = "K_POSITIVE_NAN", "K_POSITIVE_INFINITY"
	return n
}()

func lookup(word string) kind {
	if len(word) > longestKeyword {
		return tIdent
	}
	var buf [longestKeyword]byte
	for i := 0; i < len(word); i++ {
		buf[i] = lowerByte(word[i])
	}
	if k, ok := keywordKinds[string(buf[:len(word)])]; ok {
		return k
	}
	return tIdent
}

func lowerByte(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}

// lower folds ASCII letters to lower case. It returns s itself if there is nothing to fold.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i]-'A' < 26 {
			b := []byte(s)
			for ; i < len(b); i++ {
				b[i] = lowerByte(b[i])
			}
			return string(b)
		}
	}
	return s
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c-'a' < 26 {
			b[i] = c &^ 0x20
		}
	}
	return string(b)
}

// token is one token of the grammar's default channel: text[pos:end]. raw is its index among all
// tokens, including blanks and comments.
type token struct {
	pos, end, raw uint32
	kind          kind
}
