// SPDX-License-Identifier: Apache-2.0

package syntax

// A Statement is one parsed CQL statement.
type Statement interface{ statement() }

// Name is the name of a table, type, function, index or view, with or without its keyspace.
// Identifiers are already folded: unquoted ones are lower case.
type Name struct {
	Keyspace string // "" if the name has none
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
	PerPartitionLimit Expr // nil if absent
	Limit             Expr // nil if absent
	AllowFiltering    bool
}

// Selector is one item of a select list.
type Selector struct {
	Expr  Expr
	Alias string // "" if absent
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
	Timestamp Expr // nil if absent
	TTL       Expr // nil if absent
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
//	c += expr, c -= expr are Binary{Op, Column c, expr}, like c = c + expr
//
// c = expr + c is Binary{OpAdd, expr, Column c}. An assigned value contains no other Column.
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
	Using    Using // only Timestamp is allowed
	Where    []Relation
	If       []Condition
	IfExists bool
}

// DeleteItem is a column, or an element or a field of one.
type DeleteItem struct {
	Column string
	Key    Expr   // c[key]
	Field  string // c.field
}

// Condition is one condition of an IF; AND joins them.
type Condition struct {
	Column string
	Key    Expr   // c[key]
	Field  string // c.field
	Op     Op
	Value  Expr   // nil if Values is used
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

// Op is an operator of a relation or a condition, or an arithmetic operator.
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

// Relation is one relation of a WHERE; AND joins them.
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
	Values  []Expr // IN with a list in the text; for IN () empty but not nil
}

// Use is a USE statement.
type Use struct{ Keyspace string }

// Truncate is a TRUNCATE [TABLE] statement.
type Truncate struct{ Table Name }

// Properties are the WITH … AND … options of a DDL statement, in order.
type Properties []Property

// Property is one option. Value is a Constant, a Map, or a Column for an identifier.
type Property struct {
	Name  string
	Value Expr
}

// TypeRef is a type as written: text, frozen<list<int>>, map<text, ks.udt>,
// vector<float, 3>, 'org.apache.cassandra.db.marshal.…'.
type TypeRef struct {
	Name   Name // native names are lower case; for Custom types the class name
	Params []TypeRef
	Frozen bool
	Custom bool // written as a quoted string
	User   bool // the name of a user-defined type, even if it is "int"
	Dim    int  // the dimension of a vector
}

// ColumnDef is one column of CREATE TABLE or ALTER TABLE ADD.
type ColumnDef struct {
	Name       string
	Type       TypeRef
	Static     bool
	PrimaryKey bool // inline PRIMARY KEY
	Mask       Expr // MASKED WITH …; nil if absent
}

// CreateTable is a CREATE TABLE statement.
type CreateTable struct {
	Name           Name
	IfNotExists    bool
	Columns        []ColumnDef
	PartitionKey   []string // from PRIMARY KEY (…); empty if a column has it inline
	Clustering     []string
	Order          []Ordering // CLUSTERING ORDER BY
	CompactStorage bool
	With           Properties // without CLUSTERING ORDER BY and COMPACT STORAGE; the option ID is "id"
}

// AlterTable is an ALTER TABLE statement. Exactly one of its actions is set.
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

// Rename is one "a TO b" of a RENAME.
type Rename struct{ From, To string }

// CreateKeyspace is a CREATE KEYSPACE statement.
type CreateKeyspace struct {
	Name        string
	IfNotExists bool
	With        Properties
}

// AlterKeyspace is an ALTER KEYSPACE statement.
type AlterKeyspace struct {
	Name     string
	IfExists bool
	With     Properties
}

// CreateType is a CREATE TYPE statement.
type CreateType struct {
	Name        Name
	IfNotExists bool
	Fields      []ColumnDef
}

// AlterType is an ALTER TYPE statement.
type AlterType struct {
	Name     Name
	IfExists bool
	Add      []ColumnDef
	Rename   []Rename

	AddIfNotExists bool
	RenameIfExists bool
	AlterField     string // ALTER f TYPE t, which is refused; "" if absent
	AlterFieldType *TypeRef
}

// CreateIndex is a CREATE [CUSTOM] INDEX statement.
type CreateIndex struct {
	Name        string // "" if the index has no name
	Table       Name
	IfNotExists bool
	Custom      bool
	Class       string // USING 'class'; "" if absent
	Targets     []IndexTarget
	With        Properties
}

// IndexTarget is a column, or keys(c), values(c), entries(c), full(c).
type IndexTarget struct {
	Function string // "" for the plain column
	Column   string
}

// CreateView is a CREATE MATERIALIZED VIEW statement.
type CreateView struct {
	Name         Name
	IfNotExists  bool
	Select       Select
	PartitionKey []string
	Clustering   []string
	Order        []Ordering
	With         Properties
}

// ObjectKind is the kind of object that DROP, DESCRIBE or Other names.
type ObjectKind string

// The kinds, as written in CQL in upper case.
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

	// Only permissions can name these.
	KindTables    ObjectKind = "ALL TABLES IN KEYSPACE"
	KindFunctions ObjectKind = "ALL FUNCTIONS IN KEYSPACE"
)

// Drop is a DROP statement of a keyspace, table, type, index or view.
type Drop struct {
	Kind     ObjectKind
	Name     Name // a keyspace sets only Name.Name
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

// Other is a statement that evenkeel passes on without a full tree: roles, grants, functions,
// aggregates, triggers, ALTER of views, LIST.
type Other struct {
	Verb     string     // CREATE, ALTER, DROP, GRANT, REVOKE, LIST, ADD
	Object   ObjectKind // the word after the verb, if there is one
	Name     Name       // for a trigger, with the keyspace of its table
	IfExists bool       // for ALTER and DROP
	// On is the table of a trigger, or the resource of permissions; OnKind is its kind. A keyspace,
	// or all objects of one kind in it, sets only On.Keyspace. OnKind is empty for resources
	// outside keyspaces: roles, MBeans, all keyspaces, all functions.
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

// An Expr is a term or a selection: constants, bind markers, collections, columns, calls,
// arithmetic.
type Expr interface{ expr() }

// ConstKind is the lexical kind of a constant.
type ConstKind uint8

const (
	ConstString ConstKind = iota + 1
	ConstInteger
	ConstFloat // also NaN and Infinity
	ConstUUID
	ConstHex // 0x…; Text has no prefix
	ConstBool
	ConstDuration
)

// Constant is a literal. Text is its value: unquoted for strings, with the sign for numbers.
type Constant struct {
	Kind ConstKind
	Text string
}

// Null is NULL.
type Null struct{}

// Bind is ? or :name. Index is the position among the markers of the whole statement, from 0. A
// name that is written twice makes two markers.
type Bind struct {
	Name  string // "" for ?
	Index int
}

// List is [a, b].
type List struct{ Elems []Expr }

// Set is {a, b}. An empty {} is a Set too and can be a value of a map.
type Set struct{ Elems []Expr }

// Map is {k: v, …}. In a select list {a: b} is a Map whose keys are Columns, even if it is a
// literal of a user-defined type, because only the type tells them apart.
type Map struct{ Entries []MapEntry }

// MapEntry is one k: v.
type MapEntry struct{ Key, Value Expr }

// UDT is {field: v, …}. If a field is written twice, the last value counts.
type UDT struct{ Fields []UDTField }

// UDTField is one field: v.
type UDTField struct {
	Name  string
	Value Expr
}

// Tuple is (a, b). In a select list, parentheses make a tuple of one: (a + b) * c is a Binary whose
// left operand is a Tuple of one Binary.
type Tuple struct{ Elems []Expr }

// Hint is (type) expr.
type Hint struct {
	Type TypeRef
	Expr Expr
}

// Call is a function call. Star is set for count(*). WRITETIME, MAXWRITETIME and TTL are calls with
// those names. Their argument is a Column, possibly inside Field, Element and Range.
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

// Binary is an arithmetic operation. Op is OpAdd, OpSub, OpMul, OpDiv or OpMod.
type Binary struct {
	Op          Op
	Left, Right Expr
}

// Negate is -expr if expr is not a number.
type Negate struct{ Expr Expr }

// Column is the name of a column.
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
