package value

// Kind is a CQL type's kind.
type Kind uint8

// The kinds; the comment is the option id of native_protocol_v5.spec §4.2.5.2.
const (
	Custom    Kind = iota // 0x0000
	Ascii                 // 0x0001
	Bigint                // 0x0002
	Blob                  // 0x0003
	Boolean               // 0x0004
	Counter               // 0x0005
	Decimal               // 0x0006
	Double                // 0x0007
	Float                 // 0x0008
	Int                   // 0x0009
	Timestamp             // 0x000B
	UUID                  // 0x000C
	Text                  // 0x000D (varchar)
	Varint                // 0x000E
	Timeuuid              // 0x000F
	Inet                  // 0x0010
	Date                  // 0x0011
	Time                  // 0x0012
	Smallint              // 0x0013
	Tinyint               // 0x0014
	Duration              // 0x0015
	List                  // 0x0020: Elems[0]
	Map                   // 0x0021: Elems[0], Elems[1]
	Set                   // 0x0022: Elems[0]
	UDT                   // 0x0030: Elems and Fields
	Tuple                 // 0x0031: Elems
	Vector                // custom on the wire, "org.apache.cassandra.db.marshal.VectorType(…, dim)": Elems[0], Dim
	Empty                 // custom on the wire, EmptyType: dense tables' value column
)

// Type is a CQL type. Types are immutable once made; native ones are shared
// (see Native), so that comparing pointers is a fast path and Equal the truth.
type Type struct {
	Kind     Kind
	Elems    []*Type  // element types of collections, tuples, UDTs and vectors
	Frozen   bool     // collections and UDTs; tuples and vectors always are
	Keyspace string   // UDT
	Name     string   // UDT; Custom: the Java class
	Fields   []string // UDT: names of Elems
	Dim      int      // Vector
}
