// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/cql/value"
)

// oracleAddr is the address of a real Cassandra. The answers in testdata come from one. With
// -oracle (and -rewrite), the tests ask for them again and write them.
var oracleAddr = flag.String("oracle", "", "address of a Cassandra 5.0 that the scripts' answers are taken from")

// oracle is a connection to a real Cassandra.
type oracle struct {
	t     testing.TB
	conn  net.Conn
	codec frame.Codec
}

func dialOracle(t testing.TB) *oracle {
	conn, err := net.Dial("tcp", *oracleAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	o := &oracle{t, conn, frame.NewCodec()}
	if _, ok := o.send(message.NewStartup()).(*message.Ready); !ok {
		t.Fatal("the oracle is not ready")
	}
	o.must("DROP KEYSPACE IF EXISTS " + keyspace)
	o.must("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	o.must("USE " + keyspace)
	for _, s := range statements(t, "testdata/schema.cql") {
		o.must(s)
	}
	return o
}

func (o *oracle) send(m message.Message) message.Message {
	if err := o.codec.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion4, 1, m), o.conn); err != nil {
		o.t.Fatal(err)
	}
	f, err := o.codec.DecodeFrame(o.conn)
	if err != nil {
		o.t.Fatal(err)
	}
	return f.Body.Message
}

func (o *oracle) query(q string) message.Message {
	return o.send(&message.Query{Query: q, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}})
}

func (o *oracle) must(q string) {
	for try := 0; ; try++ {
		m := o.query(q)
		e, failed := m.(message.Error)
		if !failed {
			return
		}
		if try == 3 {
			o.t.Fatalf("%s: %s", q, e.GetErrorMessage())
		}
		time.Sleep(time.Second)
	}
}

// prepare returns Cassandra's answer to PREPARE.
func (o *oracle) prepare(q string) string {
	m := o.send(&message.Prepare{Query: q})
	if e, ok := m.(message.Error); ok {
		return refusal(int32(e.GetErrorCode()), e.GetErrorMessage())
	}
	p := m.(*message.PreparedResult)
	var b strings.Builder
	for i, c := range p.VariablesMetadata.Columns {
		fmt.Fprintf(&b, "?%d %s %s.%s %s\n", i, c.Name, c.Keyspace, c.Table, typeOf(c.Type))
	}
	if len(p.VariablesMetadata.PkIndices) > 0 {
		fmt.Fprintf(&b, "key %v\n", p.VariablesMetadata.PkIndices)
	}
	if p.ResultMetadata != nil {
		for _, c := range p.ResultMetadata.Columns {
			fmt.Fprintf(&b, "-> %s %s\n", c.Name, typeOf(c.Type))
		}
	}
	return done(b.String())
}

func done(s string) string {
	if s == "" {
		return "ok\n"
	}
	return s
}

func refusal(code int32, msg string) string {
	return fmt.Sprintf("error %04x: %s\n", code, sorted(msg))
}

// sorted sorts the signatures that a message lists. Cassandra gives them in the order of a hash
// table.
func sorted(msg string) string {
	for _, open := range []string{"(known type signatures: ", "(can be matched by following signatures: "} {
		i := strings.Index(msg, open)
		if i < 0 {
			continue
		}
		i += len(open)
		j := strings.LastIndex(msg, ")")
		parts := strings.Split(msg[i:j], ", system.")
		for k := 1; k < len(parts); k++ {
			parts[k] = "system." + parts[k]
		}
		for a := range parts {
			for b := a + 1; b < len(parts); b++ {
				if parts[b] < parts[a] {
					parts[a], parts[b] = parts[b], parts[a]
				}
			}
		}
		return msg[:i] + strings.Join(parts, ", ") + msg[j:]
	}
	return msg
}

// typeOf formats a type of the wire as wireType does.
func typeOf(t datatype.DataType) string {
	switch t := t.(type) {
	case *datatype.List:
		return "list<" + typeOf(t.ElementType) + ">"
	case *datatype.Set:
		return "set<" + typeOf(t.ElementType) + ">"
	case *datatype.Map:
		return "map<" + typeOf(t.KeyType) + ", " + typeOf(t.ValueType) + ">"
	case *datatype.Tuple:
		s := make([]string, len(t.FieldTypes))
		for i, f := range t.FieldTypes {
			s[i] = typeOf(f)
		}
		return "tuple<" + strings.Join(s, ", ") + ">"
	case *datatype.UserDefined:
		return t.Name
	case *datatype.Custom:
		if v, _, err := value.ParseClass(t.ClassName); err == nil {
			return wireType(v)
		}
		return t.ClassName
	}
	if t.Code() == primitive.DataTypeCodeVarchar {
		return "text"
	}
	return strings.ToLower(t.AsCql())
}

// wireType formats a type without the properties that the protocol does not show.
func wireType(t *value.Type) string {
	if t == nil {
		return "nil"
	}
	var s []string
	for _, e := range t.Elems {
		s = append(s, wireType(e))
	}
	in := strings.Join(s, ", ")
	switch t.Kind {
	case value.List:
		return "list<" + in + ">"
	case value.Set:
		return "set<" + in + ">"
	case value.Map:
		return "map<" + in + ">"
	case value.Tuple:
		return "tuple<" + in + ">"
	case value.Vector:
		return fmt.Sprintf("vector<%s, %d>", in, t.Dim)
	case value.UDT:
		return t.Name
	}
	return t.String()
}

// run returns the result of a statement with values.
func (o *oracle) run(q string, values []*primitive.Value) string {
	m := o.send(&message.Query{Query: q, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne, PositionalValues: values}})
	switch m := m.(type) {
	case message.Error:
		return refusal(int32(m.GetErrorCode()), m.GetErrorMessage())
	case *message.RowsResult:
		var cols []ResultColumn
		for _, c := range m.Metadata.Columns {
			cols = append(cols, ResultColumn{c.Name, valueType(c.Type)})
		}
		var rows [][][]byte
		for _, r := range m.Data {
			row := make([][]byte, len(r))
			copy(row, r)
			rows = append(rows, row)
		}
		return show(cols, rows)
	}
	return "ok\n"
}

// valueType converts a type of the wire to one of package value.
func valueType(t datatype.DataType) *value.Type {
	switch t := t.(type) {
	case *datatype.List:
		return value.ListOf(valueType(t.ElementType), false)
	case *datatype.Set:
		return value.SetOf(valueType(t.ElementType), false)
	case *datatype.Map:
		return value.MapOf(valueType(t.KeyType), valueType(t.ValueType), false)
	case *datatype.Tuple:
		var types []*value.Type
		for _, f := range t.FieldTypes {
			types = append(types, valueType(f))
		}
		return value.TupleOf(types...)
	case *datatype.UserDefined:
		var types []*value.Type
		for _, f := range t.FieldTypes {
			types = append(types, valueType(f))
		}
		return value.UDTOf(t.Keyspace, t.Name, t.FieldNames, types, false)
	case *datatype.Custom:
		if v, _, err := value.ParseClass(t.ClassName); err == nil {
			return v
		}
		return value.CustomOf(t.ClassName)
	}
	return value.Native(nativeKinds[typeOf(t)])
}
