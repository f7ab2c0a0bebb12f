// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/value"
)

// ResultKind is the kind of a RESULT.
type ResultKind int32

const (
	ResultVoid         ResultKind = 1
	ResultRows         ResultKind = 2
	ResultSetKeyspace  ResultKind = 3
	ResultPrepared     ResultKind = 4
	ResultSchemaChange ResultKind = 5
)

// KindOf reads the kind from the body of a RESULT (after its prefix); 0 if it has none.
func KindOf(body []byte) ResultKind {
	c := NewCursor(body)
	return ResultKind(c.Int())
}

// expect reads the kind and fails if it is a different one.
func (c *Cursor) expect(kind ResultKind) {
	if k := ResultKind(c.Int()); k != kind && c.err == nil {
		c.Fail(Errorf(CodeProtocol, "unexpected kind %d of RESULT", k))
	}
}

// AppendVoid appends the body of a RESULT Void.
func AppendVoid(dst []byte) []byte { return AppendInt(dst, int32(ResultVoid)) }

// AppendSetKeyspace appends the body of a RESULT SetKeyspace.
func AppendSetKeyspace(dst []byte, keyspace string) []byte {
	return AppendString(AppendInt(dst, int32(ResultSetKeyspace)), keyspace)
}

// ParseSetKeyspace parses the body of a RESULT SetKeyspace.
func ParseSetKeyspace(body []byte) (keyspace string, err error) {
	c := NewCursor(body)
	c.expect(ResultSetKeyspace)
	keyspace = string(c.Str())
	if err := c.Err(); err != nil {
		return "", fmt.Errorf("parse RESULT SetKeyspace: %w", err)
	}
	return keyspace, nil
}

// AppendSchemaChange appends the body of a RESULT SchemaChange.
func AppendSchemaChange(dst []byte, s *SchemaChange) []byte {
	return s.append(AppendInt(dst, int32(ResultSchemaChange)))
}

// ParseSchemaChange parses the body of a RESULT SchemaChange.
func ParseSchemaChange(body []byte) (s SchemaChange, err error) {
	c := NewCursor(body)
	c.expect(ResultSchemaChange)
	s.parse(&c)
	if err := c.Err(); err != nil {
		return SchemaChange{}, fmt.Errorf("parse RESULT SchemaChange: %w", err)
	}
	return s, nil
}

// MetadataFlags are the flags of result metadata.
type MetadataFlags uint32

const (
	MetadataGlobal   MetadataFlags = 0x0001 // all columns have the same keyspace and table
	MetadataMore     MetadataFlags = 0x0002 // there are more pages: PagingState is present
	MetadataNone     MetadataFlags = 0x0004 // the columns are not described
	MetadataNewID    MetadataFlags = 0x0008 // v5: the metadata changed; NewID is present
	metadataFlagsAll MetadataFlags = 0x000F
)

// Metadata describes the columns of a result, or the bind variables of a prepared statement
// (native_protocol_v5.spec §4.2.5.2). It is still encoded; after parsing it is a view. Flags tells
// what is present. Create one with EncodeColumns.
type Metadata struct {
	Flags       MetadataFlags
	Count       int    // number of columns, even if they are not described
	PagingState []byte // MetadataMore
	NewID       []byte // MetadataNewID
	Specs       []byte // the encoded columns, after the global keyspace and table (if there are any)
}

// Column is one column of a result, or one bind variable.
type Column struct {
	Keyspace string
	Table    string
	Name     string
	Type     *value.Type
}

// EncodeColumns encodes columns as metadata, with one global keyspace and table if all columns have
// the same. The metadata can be sent many times.
func EncodeColumns(v Version, columns []Column) Metadata {
	m := Metadata{Count: len(columns)}
	global := len(columns) > 0
	for _, c := range columns {
		global = global && c.Keyspace == columns[0].Keyspace && c.Table == columns[0].Table
	}
	if global {
		m.Flags |= MetadataGlobal
		m.Specs = AppendString(AppendString(m.Specs, columns[0].Keyspace), columns[0].Table)
	}
	for _, c := range columns {
		if !global {
			m.Specs = AppendString(AppendString(m.Specs, c.Keyspace), c.Table)
		}
		m.Specs = AppendType(AppendString(m.Specs, c.Name), v, c.Type)
	}
	return m
}

// Columns decodes the columns. It returns nil if they are not described.
func (m *Metadata) Columns() ([]Column, error) {
	if m.Flags&MetadataNone != 0 {
		return nil, nil
	}
	c := NewCursor(m.Specs)
	var keyspace, table string
	global := m.Flags&MetadataGlobal != 0
	if global {
		keyspace, table = string(c.Str()), string(c.Str())
	}
	var columns []Column
	for i := 0; i < m.Count && c.err == nil; i++ {
		if !global {
			keyspace, table = string(c.Str()), string(c.Str())
		}
		columns = append(columns, Column{Keyspace: keyspace, Table: table, Name: string(c.Str()), Type: c.Type()})
	}
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("parse columns: %w", err)
	}
	return columns, nil
}

var errCount = &Error{Code: CodeProtocol, Message: "negative count"}

// count reads an [int] that is a count.
func (c *Cursor) count() int {
	n := c.Int()
	if n < 0 {
		c.Fail(errCount)
		return 0
	}
	return int(n)
}

func (m *Metadata) parse(c *Cursor) {
	m.Flags = MetadataFlags(c.Int()) & metadataFlagsAll
	m.Count = c.count()
	if m.Flags&MetadataMore != 0 {
		m.PagingState = c.Bytes()
	}
	if m.Flags&MetadataNewID != 0 {
		m.NewID = c.ShortBytes()
	}
	m.parseSpecs(c)
}

func (m *Metadata) parseSpecs(c *Cursor) {
	if m.Flags&MetadataNone != 0 {
		return
	}
	start := c.off
	global := m.Flags&MetadataGlobal != 0
	if global {
		c.Str()
		c.Str()
	}
	for i := 0; i < m.Count && c.err == nil; i++ {
		if !global {
			c.Str()
			c.Str()
		}
		c.Str()
		c.skipType(0)
	}
	if c.err == nil {
		m.Specs = c.b[start:c.off:c.off]
	}
}

func (m *Metadata) append(dst []byte) []byte {
	dst = AppendInt(dst, int32(m.Flags))
	dst = AppendInt(dst, int32(m.Count))
	if m.Flags&MetadataMore != 0 {
		dst = AppendBytes(dst, m.PagingState)
	}
	if m.Flags&MetadataNewID != 0 {
		dst = AppendShortBytes(dst, m.NewID)
	}
	if m.Flags&MetadataNone != 0 {
		return dst
	}
	return append(dst, m.Specs...)
}

// Prepared is the body of a RESULT Prepared.
type Prepared struct {
	ID         []byte
	MetadataID []byte   // v5
	KeyIndexes []uint16 // indexes of the bind variables that form the partition key, in its order; nil unless all are bound
	Variables  Metadata
	Result     Metadata // MetadataNone if the statement is not a SELECT
}

// ParsePrepared parses the body of a RESULT Prepared.
func ParsePrepared(v Version, body []byte) (p Prepared, err error) {
	c := NewCursor(body)
	c.expect(ResultPrepared)
	p.ID = c.ShortBytes()
	if v >= V5 {
		p.MetadataID = c.ShortBytes()
	}
	p.Variables.Flags = MetadataFlags(c.Int()) & MetadataGlobal
	p.Variables.Count = c.count()
	for n := c.count(); n > 0 && c.err == nil; n-- {
		p.KeyIndexes = append(p.KeyIndexes, c.Short())
	}
	p.Variables.parseSpecs(&c)
	p.Result.parse(&c)
	if err := c.Err(); err != nil {
		return Prepared{}, fmt.Errorf("parse RESULT Prepared: %w", err)
	}
	return p, nil
}

// AppendPrepared appends the body of a RESULT Prepared.
func AppendPrepared(dst []byte, v Version, p *Prepared) []byte {
	dst = AppendShortBytes(AppendInt(dst, int32(ResultPrepared)), p.ID)
	if v >= V5 {
		dst = AppendShortBytes(dst, p.MetadataID)
	}
	dst = AppendInt(dst, int32(p.Variables.Flags&MetadataGlobal))
	dst = AppendInt(dst, int32(p.Variables.Count))
	dst = AppendInt(dst, int32(len(p.KeyIndexes)))
	for _, i := range p.KeyIndexes {
		dst = AppendShort(dst, i)
	}
	dst = append(dst, p.Variables.Specs...)
	return p.Result.append(dst)
}
