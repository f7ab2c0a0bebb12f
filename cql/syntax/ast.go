// SPDX-License-Identifier: Apache-2.0

package syntax

// A Statement is one parsed CQL statement.
type Statement interface{ statement() }

// Name is a possibly qualified name of a table, type, function, index or view.
// Identifiers are already folded: unquoted ones are lower case.
type Name struct {
	Keyspace string // "" when unqualified
	Name     string
}

// Select is a SELECT statement.
type Select struct {
	JSON              bool
	Distinct          bool
	Selectors         []Selector // empty for *
	From              Name
	Where             []Relation
	GroupBy           []Expr // Column, or Call such as floor(time, 1h)
	OrderBy           []Ordering
	PerPartitionLimit Expr // nil when absent
	Limit             Expr // nil when absent
	AllowFiltering    bool
}

// Selector is one item of a select list.
type Selector struct {
	Expr  Expr
	Alias string // "" when absent
}

// Ordering is one item of ORDER BY.
type Ordering struct {
	Column string
	Desc   bool
	ANNOf  Expr // non-nil for "column ANN OF term"
}

// Insert is an INSERT statement, with VALUES or with JSON.
type Insert struct {
	Into        Name
	Columns     []string
	Values      []Expr
	JSON        Expr // non-nil for INSERT … JSON; Columns and Values are then empty
	JSONUnset   bool // DEFAULT UNSET
	IfNotExists bool
	Using       Using
}

// Using is the USING clause of a write.
type Using struct {
	Timestamp Expr // nil when absent
	TTL       Expr // nil when absent
}

// Update is an UPDATE statement.
type Update struct {
	Table    Name
	Using    Using
	Set      []Assignment
	Where    []Relation
	If       []Condition
	IfExists bool
}

// Assignment is one operation of UPDATE … SET.
//
//	c = expr            Key and Field empty
//	c[key] = expr       Key set
//	c.field = expr      Field set
//	c += expr, c -= expr are given as Binary{Op, Column c, expr}, as c = c + expr is
//
// c = expr + c is Binary{OpAdd, expr, Column c}. No Column stands anywhere else
// in an assigned value.
type Assignment struct {
	Column string
	Key    Expr
	Field  string
	Value  Expr
}

// Delete is a DELETE statement.
type Delete struct {
	Items    []DeleteItem // empty for whole rows
	From     Name
	Using    Using // only Timestamp is legal
	Where    []Relation
	If       []Condition
	IfExists bool
}

// DeleteItem is a column, an element of one, or a field of one.
type DeleteItem struct {
	Column string
	Key    Expr   // c[key]
	Field  string // c.field
}

// Condition is one conjunct of IF.
type Condition struct {
	Column string
	Key    Expr   // c[key]
	Field  string // c.field
	Op     Op
	Value  Expr   // nil when Values is used
	Values []Expr // IN (…)
}

// BatchKind is the kind of a BATCH.
type BatchKind uint8

const (
	BatchLogged BatchKind = iota
	BatchUnlogged
	BatchCounter
)

// Batch is a BEGIN BATCH … APPLY BATCH statement.
type Batch struct {
	Kind       BatchKind
	Using      Using
	Statements []Statement // *Insert, *Update or *Delete
}

// Op is an operator of a relation or a condition, or an arithmetic one.
type Op uint8

const (
	OpEQ Op = iota + 1
	OpLT
	OpLE
	OpGT
	OpGE
	OpNE
	OpIn
	OpContains
	OpContainsKey
	OpLike
	OpIsNotNull
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
)

// Relation is one conjunct of WHERE.
//
//	c op value                  Columns has one name
//	c[key] op value             Key set
//	(c1, c2) op (v1, v2)        Tuple set; Value is a Tuple or a Bind
//	c IN (v1, v2)               Values set; c IN ? has Value set
//	token(a, b) op value        Token set
//	expr(index, value)          Index set; no Columns, no Op
type Relation struct {
	Columns []string
	Tuple   bool
	Token   bool
	Index   string // the name of a custom index
	Key     Expr
	Op      Op
	Value   Expr
	Values  []Expr // IN with a written list; non-nil though empty for IN ()
}

// Use is USE keyspace.
type Use struct{ Keyspace string }

// Truncate is TRUNCATE [TABLE] name.
type Truncate struct{ Table Name }

// Properties are the WITH … AND … options of a DDL statement, in order.
type Properties []Property

// Property is one option: Value is a Constant, a Map, or an identifier given as Column.
type Property struct {
	Name  string
	Value Expr
}

// TypeRef is a type as written: text, frozen<list<int>>, map<text, ks.udt>,
// vector<float, 3>, 'org.apache.cassandra.db.marshal.…'.
type TypeRef struct {
	Name   Name // native names are lower case; Custom types have the class name
	Params []TypeRef
	Frozen bool
	Custom bool // written as a quoted string
	User   bool // the name of a user-defined type, even one called "int"
	Dim    int  // vector's dimension
}

// ColumnDef is one column of CREATE TABLE or ALTER TABLE ADD.
type ColumnDef struct {
	Name       string
	Type       TypeRef
	Static     bool
	PrimaryKey bool // inline PRIMARY KEY
	Mask       Expr // MASKED WITH …; nil when absent
}

// CreateTable is a CREATE TABLE statement.
type CreateTable struct {
	Name           Name
	IfNotExists    bool
	Columns        []ColumnDef
	PartitionKey   []string // from PRIMARY KEY (…); empty when inline
	Clustering     []string
	Order          []Ordering // CLUSTERING ORDER BY
	CompactStorage bool
	With           Properties // without CLUSTERING ORDER BY and COMPACT STORAGE; ID is "id"
}

// AlterTable is an ALTER TABLE statement; exactly one of its actions is set.
type AlterTable struct {
	Name               Name
	IfExists           bool
	Add                []ColumnDef
	AddIfNotExists     bool
	Drop               []string
	DropIfExists       bool
	DropTimestamp      Expr
	Rename             []Rename
	RenameIfExists     bool
	With               Properties
	DropCompactStorage bool
	AlterColumn        string   // ALTER c TYPE t / ALTER c MASKED …
	AlterType          *TypeRef // nil unless TYPE
	Mask               Expr     // MASKED WITH …
	DropMask           bool     // DROP MASKED
	AlterIfExists      bool     // ALTER IF EXISTS c …
}

// Rename is one "a TO b".
type Rename struct{ From, To string }

// CreateKeyspace is CREATE KEYSPACE.
type CreateKeyspace struct {
	Name        string
	IfNotExists bool
	With        Properties
}

// AlterKeyspace is ALTER KEYSPACE.
type AlterKeyspace struct {
	Name     string
	IfExists bool
	With     Properties
}

// CreateType is CREATE TYPE.
type CreateType struct {
	Name        Name
	IfNotExists bool
	Fields      []ColumnDef
}

// AlterType is ALTER TYPE.
type AlterType struct {
	Name     Name
	IfExists bool
	Add      []ColumnDef
	Rename   []Rename

	AddIfNotExists bool
	RenameIfExists bool
	AlterField     string // ALTER f TYPE t, which is refused; "" when absent
	AlterFieldType *TypeRef
}

// CreateIndex is CREATE [CUSTOM] INDEX.
type CreateIndex struct {
	Name        string // "" when unnamed
	Table       Name
	IfNotExists bool
	Custom      bool
	Class       string // USING 'class'; "" when absent
	Targets     []IndexTarget
	With        Properties
}

// IndexTarget is a column, or keys(c), values(c), entries(c), full(c).
type IndexTarget struct {
	Function string // "" for the plain column
	Column   string
}

// CreateView is CREATE MATERIALIZED VIEW.
type CreateView struct {
	Name         Name
	IfNotExists  bool
	Select       Select
	PartitionKey []string
	Clustering   []string
	Order        []Ordering
	With         Properties
}

// ObjectKind is what DROP or DESCRIBE names.
type ObjectKind string

// The kinds as written in CQL, upper case.
const (
	KindKeyspace  ObjectKind = "KEYSPACE"
	KindTable     ObjectKind = "TABLE"
	KindType      ObjectKind = "TYPE"
	KindIndex     ObjectKind = "INDEX"
	KindView      ObjectKind = "MATERIALIZED VIEW"
	KindFunction  ObjectKind = "FUNCTION"
	KindAggregate ObjectKind = "AGGREGATE"
	KindTrigger   ObjectKind = "TRIGGER"
	KindRole      ObjectKind = "ROLE"
	KindUser      ObjectKind = "USER"

	// What only permissions are on.
	KindTables    ObjectKind = "ALL TABLES IN KEYSPACE"
	KindFunctions ObjectKind = "ALL FUNCTIONS IN KEYSPACE"
)

// Drop is a DROP statement of a keyspace, table, type, index or view.
type Drop struct {
	Kind     ObjectKind
	Name     Name // a keyspace has only Name
	IfExists bool
}

// Describe is a server-side DESCRIBE statement.
type Describe struct {
	What      string // "CLUSTER", "SCHEMA", "KEYSPACES", "TABLES", "TYPES", "FUNCTIONS", "AGGREGATES", "KEYSPACE", "TABLE", "INDEX", "MATERIALIZED VIEW", "TYPE", "FUNCTION", "AGGREGATE", or "" for DESCRIBE name
	Full      bool   // FULL SCHEMA
	Only      bool   // ONLY KEYSPACE
	Name      Name
	Internals bool // WITH INTERNALS
}

// Other is a statement that evenkeel passes on without reading further: roles,
// grants, functions, aggregates, triggers, views' ALTER, LIST.
type Other struct {
	Verb     string     // CREATE, ALTER, DROP, GRANT, REVOKE, LIST, ADD
	Object   ObjectKind // the word after the verb where there is one
	Name     Name       // of a trigger with the keyspace of its table
	IfExists bool       // of ALTER and DROP
	// On is the table of a trigger, or what permissions are on, and OnKind what that
	// is. A keyspace, and all that is in one, has only On.Keyspace. OnKind is empty
	// for what is in no keyspace: roles, MBeans, all keyspaces, all functions.
	On     Name
	OnKind ObjectKind
	Text   string // the statement as written
}

func (*Select) statement()         {}
func (*Insert) statement()         {}
func (*Update) statement()         {}
func (*Delete) statement()         {}
func (*Batch) statement()          {}
func (*Use) statement()            {}
func (*Truncate) statement()       {}
func (*CreateTable) statement()    {}
func (*AlterTable) statement()     {}
func (*CreateKeyspace) statement() {}
func (*AlterKeyspace) statement()  {}
func (*CreateType) statement()     {}
func (*AlterType) statement()      {}
func (*CreateIndex) statement()    {}
func (*CreateView) statement()     {}
func (*Drop) statement()           {}
func (*Describe) statement()       {}
func (*Other) statement()          {}

// An Expr is a term or a selection: constants, bind markers, collections,
// columns, calls, arithmetic.
type Expr interface{ expr() }

// ConstKind is the lexical kind of a constant.
type ConstKind uint8

const (
	ConstString ConstKind = iota + 1
	ConstInteger
	ConstFloat // also NaN, Infinity
	ConstUUID
	ConstHex // 0x…; Text without the prefix
	ConstBool
	ConstDuration
)

// Constant is a literal. Text is the value: unquoted for strings, with its sign for numbers.
type Constant struct {
	Kind ConstKind
	Text string
}

// Null is NULL.
type Null struct{}

// Bind is ? or :name. Index counts markers of the whole statement from 0; the
// same name written twice is two markers.
type Bind struct {
	Name  string // "" for ?
	Index int
}

// List is [a, b].
type List struct{ Elems []Expr }

// Set is {a, b}; the empty {} is a Set too and fits a map.
type Set struct{ Elems []Expr }

// Map is {k: v, …}. In a select list {a: b} is a Map whose keys are Columns,
// also where it stands for a user type's literal: only the type tells.
type Map struct{ Entries []MapEntry }

// MapEntry is one k: v.
type MapEntry struct{ Key, Value Expr }

// UDT is {field: v, …}. Of a field written twice the last value counts.
type UDT struct{ Fields []UDTField }

// UDTField is one field: v.
type UDTField struct {
	Name  string
	Value Expr
}

// Tuple is (a, b). In a select list a tuple of one is also what parentheses
// give: (a + b) * c is a Binary whose left operand is a Tuple of one Binary.
type Tuple struct{ Elems []Expr }

// Hint is (type) expr.
type Hint struct {
	Type TypeRef
	Expr Expr
}

// Call is a function call. Star is count(*). WRITETIME, MAXWRITETIME and TTL are
// calls of those names; their argument is a Column with Field, Element and Range
// around it.
type Call struct {
	Func Name
	Args []Expr
	Star bool
}

// Cast is CAST(expr AS type).
type Cast struct {
	Expr Expr
	Type TypeRef
}

// Binary is arithmetic: Op is OpAdd, OpSub, OpMul, OpDiv or OpMod.
type Binary struct {
	Op          Op
	Left, Right Expr
}

// Negate is -expr where expr is not a number.
type Negate struct{ Expr Expr }

// Column is a column's name.
type Column struct{ Name string }

// Field is expr.name.
type Field struct {
	Expr Expr
	Name string
}

// Element is expr[key].
type Element struct{ Expr, Key Expr }

// Range is expr[from..to]; From and To may be nil.
type Range struct{ Expr, From, To Expr }

func (*Constant) expr() {}
func (*Null) expr()     {}
func (*Bind) expr()     {}
func (*List) expr()     {}
func (*Set) expr()      {}
func (*Map) expr()      {}
func (*UDT) expr()      {}
func (*Tuple) expr()    {}
func (*Hint) expr()     {}
func (*Call) expr()     {}
func (*Cast) expr()     {}
func (*Binary) expr()   {}
func (*Negate) expr()   {}
func (*Column) expr()   {}
func (*Field) expr()    {}
func (*Element) expr()  {}
func (*Range) expr()    {}
