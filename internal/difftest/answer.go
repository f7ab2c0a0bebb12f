// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Kind is the kind of an answer.
type Kind string

const (
	Void     Kind = "void"
	Rows     Kind = "rows"
	Keyspace Kind = "set keyspace"
	Schema   Kind = "schema change"
	Prepared Kind = "prepared"
	Error    Kind = "error"
)

// Answer is a response in the form in which it is compared.
type Answer struct {
	Kind     Kind
	Warnings []string

	Columns []Column   // Rows and Prepared
	Rows    [][][]byte // nil cell: null
	State   []byte     // the next page's state, opaque

	ID, MetadataID []byte // Prepared: opaque
	Bind           []Column
	PK             []uint16 // Prepared: the bind markers that form the partition key

	Code primitive.ErrorCode
	Text string // an error's message with its details, or what changed
}

// Column is one column of a result, or one bind marker.
type Column struct {
	Keyspace, Table, Name string
	Type                  datatype.DataType
}

func (c Column) String() string {
	return fmt.Sprintf("%s.%s.%s %s", c.Keyspace, c.Table, c.Name, typeString(c.Type))
}

// typeString describes a type with all its details on the wire.
func typeString(t datatype.DataType) string {
	switch t := t.(type) {
	case nil:
		return "none"
	case *datatype.UserDefined:
		fields := make([]string, len(t.FieldNames))
		for i, name := range t.FieldNames {
			fields[i] = name + " " + typeString(t.FieldTypes[i])
		}
		return t.Keyspace + "." + t.Name + "{" + strings.Join(fields, ", ") + "}"
	case *datatype.List:
		return "list<" + typeString(t.ElementType) + ">"
	case *datatype.Set:
		return "set<" + typeString(t.ElementType) + ">"
	case *datatype.Map:
		return "map<" + typeString(t.KeyType) + ", " + typeString(t.ValueType) + ">"
	case *datatype.Tuple:
		elems := make([]string, len(t.FieldTypes))
		for i, e := range t.FieldTypes {
			elems[i] = typeString(e)
		}
		return "tuple<" + strings.Join(elems, ", ") + ">"
	default:
		return t.AsCql()
	}
}

func columns(in []*message.ColumnMetadata) []Column {
	if in == nil {
		return nil
	}
	out := make([]Column, len(in))
	for i, c := range in {
		out[i] = Column{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, Type: c.Type}
	}
	return out
}

func newAnswer(f *frame.Frame) (*Answer, error) {
	a := &Answer{}
	for _, w := range f.Body.Warnings {
		if !strings.HasPrefix(w, perConnection) {
			a.Warnings = append(a.Warnings, w)
		}
	}
	switch m := f.Body.Message.(type) {
	case *message.VoidResult:
		a.Kind = Void
	case *message.SetKeyspaceResult:
		a.Kind, a.Text = Keyspace, m.Keyspace
	case *message.SchemaChangeResult:
		a.Kind = Schema
		a.Text = fmt.Sprintf("%s %s %s.%s%v", m.ChangeType, m.Target, m.Keyspace, m.Object, m.Arguments)
	case *message.RowsResult:
		a.Kind, a.Columns, a.State = Rows, columns(m.Metadata.Columns), m.Metadata.PagingState
		a.Rows = append(a.Rows, m.Data...)
	case *message.PreparedResult:
		a.Kind, a.ID, a.MetadataID = Prepared, m.PreparedQueryId, m.ResultMetadataId
		a.Bind, a.PK = columns(m.VariablesMetadata.Columns), m.VariablesMetadata.PkIndices
		a.Columns = columns(m.ResultMetadata.Columns)
	case message.Error:
		a.Kind, a.Code, a.Text = Error, m.GetErrorCode(), particulars(m)
	default:
		return nil, fmt.Errorf("difftest: an answer that is none: %v", m)
	}
	return a, nil
}

// perConnection begins a warning that Cassandra gives once per connection, with the prepared id in
// it.
const perConnection = "`USE <keyspace>` with prepared statements"

// particulars returns an error's message followed by the other fields of its code.
func particulars(e message.Error) string {
	s := e.GetErrorMessage()
	switch e := e.(type) {
	case *message.AlreadyExists:
		s += fmt.Sprintf(" [%s.%s]", e.Keyspace, e.Table)
	case *message.FunctionFailure:
		s += fmt.Sprintf(" [%s.%s%v]", e.Keyspace, e.Function, e.Arguments)
	case *message.Unavailable:
		s += fmt.Sprintf(" [%v %d of %d]", e.Consistency, e.Alive, e.Required)
	case *message.ReadTimeout:
		s += fmt.Sprintf(" [%v %d of %d, data %v]", e.Consistency, e.Received, e.BlockFor, e.DataPresent)
	case *message.WriteTimeout:
		s += fmt.Sprintf(" [%v %d of %d, %v]", e.Consistency, e.Received, e.BlockFor, e.WriteType)
	}
	return s
}

// rename replaces keyspace from by to everywhere in an answer.
func (a *Answer) rename(from, to string) {
	cols := func(cs []Column) {
		for i := range cs {
			if cs[i].Keyspace == from {
				cs[i].Keyspace = to
			}
			cs[i].Type = renameType(cs[i].Type, from, to)
		}
	}
	cols(a.Columns)
	cols(a.Bind)
	a.Text = strings.ReplaceAll(a.Text, from, to)
	for i, w := range a.Warnings {
		a.Warnings[i] = strings.ReplaceAll(w, from, to)
	}
	// Only rows of system tables contain names of keyspaces, as texts.
	for _, r := range a.Rows {
		for i, cell := range r {
			if string(cell) == from {
				r[i] = []byte(to)
			}
		}
	}
}

func renameType(t datatype.DataType, from, to string) datatype.DataType {
	each := func(ts []datatype.DataType) []datatype.DataType {
		out := make([]datatype.DataType, len(ts))
		for i := range ts {
			out[i] = renameType(ts[i], from, to)
		}
		return out
	}
	switch t := t.(type) {
	case *datatype.UserDefined:
		c := *t
		if c.Keyspace == from {
			c.Keyspace = to
		}
		c.FieldTypes = each(c.FieldTypes)
		return &c
	case *datatype.List:
		return &datatype.List{ElementType: renameType(t.ElementType, from, to)}
	case *datatype.Set:
		return &datatype.Set{ElementType: renameType(t.ElementType, from, to)}
	case *datatype.Map:
		return &datatype.Map{KeyType: renameType(t.KeyType, from, to), ValueType: renameType(t.ValueType, from, to)}
	case *datatype.Tuple:
		return &datatype.Tuple{FieldTypes: each(t.FieldTypes)}
	case *datatype.Custom:
		return &datatype.Custom{ClassName: strings.ReplaceAll(t.ClassName, from, to)}
	default:
		return t
	}
}
