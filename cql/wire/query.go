// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"math"
)

// QueryFlags are the flags of the parameters of QUERY, EXECUTE and BATCH: one byte in v4, four in
// v5. In the specification only v5 has QueryKeyspace. Cassandra reads it in v4 too, and so does
// this package.
type QueryFlags uint32

const (
	QueryValues            QueryFlags = 0x0001
	QuerySkipMetadata      QueryFlags = 0x0002
	QueryPageSize          QueryFlags = 0x0004
	QueryPagingState       QueryFlags = 0x0008
	QuerySerialConsistency QueryFlags = 0x0010
	QueryDefaultTimestamp  QueryFlags = 0x0020
	QueryNamedValues       QueryFlags = 0x0040
	QueryKeyspace          QueryFlags = 0x0080
	QueryNowInSeconds      QueryFlags = 0x0100 // v5
)

const (
	queryFlagsV4 = QueryFlags(0xFF)
	queryFlagsV5 = QueryFlags(0x1FF)
)

// Params are the parameters of a QUERY, an EXECUTE or a BATCH (native_protocol_v5.spec §4.1.4).
// Flags tells which fields are present; the setters update it. Slices are views.
type Params struct {
	Consistency       Consistency
	Flags             QueryFlags
	Values            Values // QueryValues; not in a BATCH, whose statements have their own
	PageSize          int32
	PagingState       []byte
	SerialConsistency Consistency
	DefaultTimestamp  int64
	Keyspace          []byte
	NowInSeconds      int32
}

// Has reports whether all flags of f are set.
func (p *Params) Has(f QueryFlags) bool { return p.Flags&f == f }

// SetValues sets the values, or removes them if v is empty.
func (p *Params) SetValues(v Values) {
	p.Values = v
	p.Flags &^= QueryValues | QueryNamedValues
	if v.Count+v.inserted > 0 {
		p.Flags |= QueryValues
		if v.Named {
			p.Flags |= QueryNamedValues
		}
	}
}

// SetPageSize sets the page size; 0 or less means no paging.
func (p *Params) SetPageSize(n int32) {
	p.PageSize = n
	p.set(QueryPageSize, n > 0)
}

// SetPagingState sets the paging state; nil means none.
func (p *Params) SetPagingState(state []byte) {
	p.PagingState = state
	p.set(QueryPagingState, state != nil)
}

// SetSerialConsistency sets the serial consistency.
func (p *Params) SetSerialConsistency(c Consistency) {
	p.SerialConsistency = c
	p.set(QuerySerialConsistency, true)
}

// SetDefaultTimestamp sets the default timestamp, in microseconds.
func (p *Params) SetDefaultTimestamp(us int64) {
	p.DefaultTimestamp = us
	p.set(QueryDefaultTimestamp, true)
}

// SetSkipMetadata sets whether the result may leave out its metadata.
func (p *Params) SetSkipMetadata(skip bool) { p.set(QuerySkipMetadata, skip) }

// SetKeyspace sets the keyspace of the request; nil means none.
func (p *Params) SetKeyspace(keyspace []byte) {
	p.Keyspace = keyspace
	p.set(QueryKeyspace, keyspace != nil)
}

// SetNowInSeconds sets the request's current time in seconds (v5).
func (p *Params) SetNowInSeconds(s int32) {
	p.NowInSeconds = s
	p.set(QueryNowInSeconds, true)
}

func (p *Params) set(f QueryFlags, on bool) {
	if on {
		p.Flags |= f
	} else {
		p.Flags &^= f
	}
}

// parse parses consistency, flags and the fields after them. Cassandra parses a BATCH in the same
// way, whatever flags it has.
func (p *Params) parse(c *Cursor, v Version) {
	p.Consistency = c.Consistency()
	if v >= V5 {
		p.Flags = QueryFlags(c.Int()) & queryFlagsV5
	} else {
		p.Flags = QueryFlags(c.Byte()) & queryFlagsV4
	}
	if p.Flags&QueryValues != 0 {
		p.Values = parseValues(c, p.Flags&QueryNamedValues != 0)
	}
	if p.Flags&QueryPageSize != 0 {
		p.PageSize = c.Int()
	}
	if p.Flags&QueryPagingState != 0 {
		p.PagingState = c.Bytes()
	}
	if p.Flags&QuerySerialConsistency != 0 {
		p.SerialConsistency = c.Consistency()
	}
	if p.Flags&QueryDefaultTimestamp != 0 {
		if p.DefaultTimestamp = c.Long(); p.DefaultTimestamp == math.MinInt64 {
			c.Fail(errTimestamp)
		}
	}
	if p.Flags&QueryKeyspace != 0 {
		p.Keyspace = c.Str()
	}
	if p.Flags&QueryNowInSeconds != 0 {
		p.NowInSeconds = c.Int()
	}
}

var errTimestamp = Errorf(CodeProtocol, "Out of bound timestamp, must be in [%d, %d] (got %d)",
	math.MinInt64+1, math.MaxInt64, math.MinInt64)

func (p *Params) append(dst []byte, v Version, batch bool) []byte {
	dst = AppendConsistency(dst, p.Consistency)
	flags := p.Flags
	if v >= V5 {
		flags &= queryFlagsV5
	} else {
		flags &= queryFlagsV4
	}
	if batch {
		flags &^= QueryValues | QueryNamedValues | QueryPageSize | QueryPagingState | QuerySkipMetadata
	}
	if v >= V5 {
		dst = AppendInt(dst, int32(flags))
	} else {
		dst = append(dst, byte(flags))
	}
	if flags&QueryValues != 0 {
		dst = p.Values.Append(dst)
	}
	if flags&QueryPageSize != 0 {
		dst = AppendInt(dst, p.PageSize)
	}
	if flags&QueryPagingState != 0 {
		dst = AppendBytes(dst, p.PagingState)
	}
	if flags&QuerySerialConsistency != 0 {
		dst = AppendConsistency(dst, p.SerialConsistency)
	}
	if flags&QueryDefaultTimestamp != 0 {
		dst = AppendLong(dst, p.DefaultTimestamp)
	}
	if flags&QueryKeyspace != 0 {
		dst = AppendString(dst, p.Keyspace)
	}
	if flags&QueryNowInSeconds != 0 {
		dst = AppendInt(dst, p.NowInSeconds)
	}
	return dst
}

// Query is the body of a QUERY.
type Query struct {
	Text   []byte
	Params Params
}

// ParseQuery parses the body of a QUERY.
func ParseQuery(v Version, body []byte) (q Query, err error) {
	c := NewCursor(body)
	q.Text = c.LongStr()
	q.Params.parse(&c, v)
	if err := c.Err(); err != nil {
		return Query{}, fmt.Errorf("parse QUERY: %w", err)
	}
	return q, nil
}

// QueryText reads only the statement from the body of a QUERY or a PREPARE.
func QueryText(body []byte) ([]byte, error) {
	c := NewCursor(body)
	text := c.LongStr()
	return text, c.Err()
}

// AppendQuery appends the body of a QUERY.
func AppendQuery(dst []byte, v Version, q *Query) []byte {
	return q.Params.append(AppendLongString(dst, q.Text), v, false)
}

// Prepare is the body of a PREPARE.
type Prepare struct {
	Text     []byte
	Keyspace []byte // v5; nil: no keyspace
}

const prepareKeyspace = 0x01

// ParsePrepare parses the body of a PREPARE.
func ParsePrepare(v Version, body []byte) (p Prepare, err error) {
	c := NewCursor(body)
	p.Text = c.LongStr()
	if v >= V5 && c.Int()&prepareKeyspace != 0 {
		p.Keyspace = c.Str()
	}
	if err := c.Err(); err != nil {
		return Prepare{}, fmt.Errorf("parse PREPARE: %w", err)
	}
	return p, nil
}

// AppendPrepare appends the body of a PREPARE. In v4 it leaves out the keyspace.
func AppendPrepare(dst []byte, v Version, p *Prepare) []byte {
	dst = AppendLongString(dst, p.Text)
	if v < V5 {
		return dst
	}
	if p.Keyspace == nil {
		return AppendInt(dst, 0)
	}
	return AppendString(AppendInt(dst, prepareKeyspace), p.Keyspace)
}

// Execute is the body of an EXECUTE.
//
// To rewrite an EXECUTE (other ids, another page size, an inserted value), parse it, change the
// fields, and append it. Append copies the unchanged values as they are.
type Execute struct {
	ID         []byte
	MetadataID []byte // v5: the id of the result metadata that the client has
	Params     Params
}

// ParseExecute parses the body of an EXECUTE.
func ParseExecute(v Version, body []byte) (e Execute, err error) {
	c := NewCursor(body)
	e.ID = c.ShortBytes()
	if v >= V5 {
		e.MetadataID = c.ShortBytes()
	}
	e.Params.parse(&c, v)
	if err := c.Err(); err != nil {
		return Execute{}, fmt.Errorf("parse EXECUTE: %w", err)
	}
	return e, nil
}

// ExecuteID reads only the id from the body of an EXECUTE.
func ExecuteID(body []byte) ([]byte, error) {
	c := NewCursor(body)
	id := c.ShortBytes()
	return id, c.Err()
}

// AppendExecute appends the body of an EXECUTE.
func AppendExecute(dst []byte, v Version, e *Execute) []byte {
	dst = AppendShortBytes(dst, e.ID)
	if v >= V5 {
		dst = AppendShortBytes(dst, e.MetadataID)
	}
	return e.Params.append(dst, v, false)
}
