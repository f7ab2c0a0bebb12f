// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// captured is one message that a real Cassandra sent.
type captured struct {
	version   Version
	name      string
	statement string
	op        Op
	flags     Flags
	body      []byte
}

func capturedMessages(t testing.TB) []captured {
	f, err := os.Open("testdata/cassandra-5.0.9.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []captured
	var statement string
	for s := bufio.NewScanner(f); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "# "); ok {
			statement = text
			continue
		}
		fields := strings.Split(s.Text(), " ")
		if len(fields) != 5 {
			t.Fatalf("malformed line %q", s.Text())
		}
		flags, err := strconv.ParseUint(fields[3], 0, 8)
		if err != nil {
			t.Fatal(err)
		}
		body, err := hex.DecodeString(fields[4])
		if err != nil {
			t.Fatal(err)
		}
		m := captured{name: fields[1], statement: statement, flags: Flags(flags), body: body, version: V4}
		if fields[0] == "v5" {
			m.version = V5
		}
		for op := Op(0); op < 0x20; op++ {
			if op.String() == fields[2] {
				m.op = op
			}
		}
		all = append(all, m)
		statement = ""
	}
	if len(all) < 100 {
		t.Fatalf("only %d messages", len(all))
	}
	return all
}

// TestCassandraMessages parses every captured message and writes it again. The bytes must be the
// same.
func TestCassandraMessages(t *testing.T) {
	for _, m := range capturedMessages(t) {
		t.Run(fmt.Sprintf("v%d/%s", m.version, m.name), func(t *testing.T) {
			p, rest, err := SplitPrefix(m.op, m.flags, m.body)
			if err != nil {
				t.Fatal(err)
			}
			if p.Flags() != m.flags&(FlagTracing|FlagWarning|FlagCustomPayload) {
				t.Errorf("flags of prefix %x, of message %x", p.Flags(), m.flags)
			}
			if p.Warnings != nil && len(p.WarningList()) != 1 {
				t.Errorf("warnings %q", p.WarningList())
			}
			again, err := rewrite(m.version, m.op, rest)
			if err != nil {
				t.Fatal(err)
			}
			if again = append(p.Append(nil), again...); !bytes.Equal(again, m.body) {
				t.Errorf("written again:\n%x\nreceived:\n%x", again, m.body)
			}
			oracleAgrees(t, m, p, rest)
		})
	}
}

// rewrite parses a response's body, decodes all parts of it, and writes it again.
func rewrite(v Version, op Op, body []byte) ([]byte, error) {
	switch op {
	case OpReady:
		return nil, nil
	case OpSupported:
		options, err := ParseSupported(body)
		if err != nil {
			return nil, err
		}
		// Maps have no order, and Cassandra's order is its own.
		if c := NewCursor(AppendSupported(nil, options)); c.Remaining() != len(body) {
			return nil, fmt.Errorf("supported %v", options)
		}
		return body, nil
	case OpError:
		e, err := ParseError(v, body)
		if err != nil {
			return nil, err
		}
		return e.Append(nil, v), nil
	case OpEvent:
		e, err := ParseEvent(body)
		return AppendEvent(nil, &e), err
	case OpResult:
		return rewriteResult(v, body)
	}
	return nil, fmt.Errorf("unexpected %s", op)
}

func rewriteResult(v Version, body []byte) ([]byte, error) {
	switch kind := KindOf(body); kind {
	case ResultVoid:
		return AppendVoid(nil), nil
	case ResultSetKeyspace:
		k, err := ParseSetKeyspace(body)
		return AppendSetKeyspace(nil, k), err
	case ResultSchemaChange:
		s, err := ParseSchemaChange(body)
		return AppendSchemaChange(nil, &s), err
	case ResultPrepared:
		p, err := ParsePrepared(v, body)
		if err != nil {
			return nil, err
		}
		for _, m := range []*Metadata{&p.Variables, &p.Result} {
			if err := reencode(v, m); err != nil {
				return nil, err
			}
		}
		return AppendPrepared(nil, v, &p), nil
	case ResultRows:
		r, err := ParseRows(body)
		if err != nil {
			return nil, err
		}
		if err := reencode(v, &r.Metadata); err != nil {
			return nil, err
		}
		var w RowsWriter
		w.Begin(nil, r.Metadata)
		it := r.Iter(nil)
		for it.Next() {
			if w.Count()%2 == 0 {
				w.Row(it.Row())
				continue
			}
			for _, c := range it.Cells {
				w.Cell(c)
			}
			w.EndRow()
		}
		if w.Count() != r.Count {
			return nil, fmt.Errorf("%d rows of %d", w.Count(), r.Count)
		}
		return w.Finish(), it.Err()
	default:
		return nil, fmt.Errorf("unexpected kind %d", kind)
	}
}

// reencode decodes the columns and encodes them again.
func reencode(v Version, m *Metadata) error {
	if m.Flags&MetadataNone != 0 {
		return nil
	}
	columns, err := m.Columns()
	if err != nil {
		return err
	}
	again := EncodeColumns(v, columns)
	if again.Flags != m.Flags&MetadataGlobal {
		return fmt.Errorf("flags %x, encoded %x", m.Flags, again.Flags)
	}
	m.Specs = again.Specs
	return nil
}

// oracleAgrees decodes the message with another library and compares the results.
func oracleAgrees(t *testing.T, m captured, p Prefix, rest []byte) {
	h := Header{Version: m.version, Response: true, Flags: m.flags, Stream: 3, Op: m.op}
	f, err := frame.NewCodec().DecodeFrame(bytes.NewReader(AppendFrame(nil, h, m.body)))
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	if diff := cmp.Diff(f.Body.Warnings, p.WarningList(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("warnings (-oracle +ours)\n%s", diff)
	}
	if f.Body.TracingId != nil && !bytes.Equal(f.Body.TracingId[:], p.TracingID) {
		t.Errorf("tracing id %x, oracle's %v", p.TracingID, f.Body.TracingId)
	}
	switch o := f.Body.Message.(type) {
	case *message.RowsResult:
		r, err := ParseRows(rest)
		if err != nil {
			t.Fatal(err)
		}
		sameColumns(t, m.version, &r.Metadata, o.Metadata.Columns)
		if !bytes.Equal(r.Metadata.PagingState, o.Metadata.PagingState) || !bytes.Equal(r.Metadata.NewID, o.Metadata.NewResultMetadataId) {
			t.Errorf("metadata %+v, oracle's %+v", r.Metadata, o.Metadata)
		}
		if r.Count != len(o.Data) {
			t.Fatalf("%d rows, oracle's %d", r.Count, len(o.Data))
		}
		it := r.Iter(make([][]byte, 0, 100))
		for i := 0; it.Next(); i++ {
			if diff := cmp.Diff(o.Data[i], it.Cells); diff != "" {
				t.Errorf("row %d (-oracle +ours)\n%s", i, diff)
			}
		}
	case *message.PreparedResult:
		r, err := ParsePrepared(m.version, rest)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.ID, o.PreparedQueryId) || !bytes.Equal(r.MetadataID, o.ResultMetadataId) {
			t.Errorf("ids %x %x, oracle's %x %x", r.ID, r.MetadataID, o.PreparedQueryId, o.ResultMetadataId)
		}
		if diff := cmp.Diff(o.VariablesMetadata.PkIndices, r.KeyIndexes); diff != "" {
			t.Errorf("key indexes (-oracle +ours)\n%s", diff)
		}
		sameColumns(t, m.version, &r.Variables, o.VariablesMetadata.Columns)
		sameColumns(t, m.version, &r.Result, o.ResultMetadata.Columns)
	case message.Error:
		e, err := ParseError(m.version, rest)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o, oracleError(e)); diff != "" {
			t.Errorf("error (-oracle +ours)\n%s", diff)
		}
	}
}

func sameColumns(t *testing.T, v Version, m *Metadata, want []*message.ColumnMetadata) {
	t.Helper()
	columns, err := m.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if len(columns) != len(want) {
		t.Fatalf("%d columns, oracle's %d", len(columns), len(want))
	}
	for i, c := range columns {
		got := message.ColumnMetadata{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, Index: want[i].Index, Type: oracleType(v, c.Type)}
		if diff := cmp.Diff(*want[i], got, compareOracle); diff != "" {
			t.Errorf("column %d (-oracle +ours)\n%s", i, diff)
		}
	}
}

func stream(t testing.TB, name string) []byte {
	f, err := os.Open("testdata/stream-" + name + ".bin.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCassandraStreams decodes the bytes that Cassandra sent on whole connections, in every
// framing, in reads of any size.
func TestCassandraStreams(t *testing.T) {
	for _, tc := range []struct {
		name        string
		version     Version
		compression Compression
	}{{"v4", V4, NoCompression}, {"v4-lz4", V4, LZ4}, {"v5", V5, NoCompression}, {"v5-lz4", V5, LZ4}} {
		for reader, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r },
			"half":  iotest.HalfReader,
			"byte":  iotest.OneByteReader,
			"eof":   iotest.DataErrReader,
		} {
			t.Run(tc.name+"/"+reader, func(t *testing.T) {
				d := NewResponseDecoder(wrap(bytes.NewReader(stream(t, tc.name))), 1<<20)
				var got strings.Builder
				for {
					h, body, err := d.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					if h.Version != tc.version || !h.Response || h.Flags != 0 || int(h.Length) != len(body) {
						t.Fatalf("header %+v with a body of %d bytes", h, len(body))
					}
					if _, err := rewrite(tc.version, h.Op, body); err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&got, "%s %d\n", h.Op, len(body))
					if h.Op == OpReady {
						d.Established(tc.version, tc.compression)
					}
				}
				want := "SUPPORTED 102\nREADY 0\nRESULT 1047\n" + strings.Repeat("RESULT 4\n", 40) + "RESULT 320621\n" + strings.Repeat("RESULT 743\n", 5)
				if diff := cmp.Diff(want, got.String()); diff != "" {
					t.Errorf("frames (-want +got)\n%s", diff)
				}
			})
		}
	}
}

// TestCassandraVersionErrors checks that version errors have the bytes of Cassandra 5.0.9, up to
// the list of versions.
func TestCassandraVersionErrors(t *testing.T) {
	for _, tc := range []struct {
		version byte
		head    string // header and code
	}{
		{1, "\x81\x00\x00\x00\x00\x00\x00\x56\x00\x00\x00\x0a"},
		{2, "\x82\x00\x00\x00\x00\x00\x00\x56\x00\x00\x00\x0a"},
		{3, "\x85\x00\x00\x07\x00\x00\x00\x00\x56\x00\x00\x00\x0a"},
		{6, "\x85\x00\x00\x07\x00\x00\x00\x00\x56\x00\x00\x00\x0a"},
		{7, "\x85\x00\x00\x07\x00\x00\x00\x00\x56\x00\x00\x00\x0a"},
		{66, "\x85\x00\x00\x07\x00\x00\x00\x00\x57\x00\x00\x00\x0a"},
	} {
		d := NewRequestDecoder(bytes.NewReader([]byte{tc.version, 0, 0, 7, byte(OpOptions), 0, 0, 0, 0}), 1024)
		h, _, err := d.Next()
		e, ok := err.(*Error)
		if !ok || e.Code != CodeProtocol {
			t.Fatalf("version %d: %v", tc.version, err)
		}
		text := fmt.Sprintf("Invalid or unsupported protocol version (%d); supported versions are (4/v4, 5/v5)", tc.version)
		want := tc.head + "\x00" + string(rune(len(text))) + text
		if got := string(AppendVersionError(nil, h)); got != want {
			t.Errorf("version %d:\n%q\nwant\n%q", tc.version, got, want)
		}
	}
}

// TestCassandraProtocolErrors compares our errors for bad headers and bodies with those of
// Cassandra 5.0.9.
func TestCassandraProtocolErrors(t *testing.T) {
	next := func(b string) error {
		_, _, err := NewRequestDecoder(strings.NewReader(b), 1024).Next()
		return err
	}
	parse := func(op Op, b string) error {
		var err error
		switch op {
		case OpQuery:
			_, err = ParseQuery(V4, []byte(b))
		case OpBatch:
			_, err = ParseBatch(V4, []byte(b))
		case OpRegister:
			_, err = ParseRegister([]byte(b))
		}
		return err
	}
	for _, tc := range []struct {
		err  error
		want string
	}{
		{next("\x84\x00\x00\x07\x05\x00\x00\x00\x00"), "Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode 5 (OPTIONS)"},
		{next("\x04\x00\x00\x07\x08\x00\x00\x00\x00"), "Wrong protocol direction (expected RESPONSE, got REQUEST) for opcode 8 (RESULT)"},
		{next("\x04\x00\x00\x07\x55\x00\x00\x00\x00"), "Unknown opcode 85"},
		{parse(OpQuery, "\x00\x00\x00\x02ab\x00\x51\x00"), "Unknown code 81 for a consistency level"},
		{next("\x04\x00\x00\x07\x05\xff\xff\xff\xff"), "Invalid value for envelope header body length field: -1"},
		{parse(OpQuery, "\x00\x00\x00\x02ab\x00\x01\x01\x00\x01\x00\x00\x00\x09v"), "Cannot read value of length 9, only 1 bytes remaining in the message"},
		{parse(OpQuery, "\x00\x00\x00\x02ab\x00\x01\x01\x00\x01\xff\xff\xff\xfd"), "Invalid ByteBuf length -3"},
		{parse(OpQuery, "\x00\x00\x00\x02ab\x00\x01\x20\x80\x00\x00\x00\x00\x00\x00\x00"), "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807] (got -9223372036854775808)"},
		{parse(OpQuery, "\x00\x00\x00\x50ab\x00\x01\x00"), "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"},
		{parse(OpBatch, "\x09\x00\x00\x00\x01\x00"), "Invalid BATCH message type 9"},
		{parse(OpBatch, "\x00\x00\x01\x05\x00\x01\x00\x00\x00\x00"), "Invalid query kind in BATCH messages. Must be 0 or 1 but got 5"},
		{parse(OpRegister, "\x00\x01\x00\x04NOPE"), "Invalid value 'NOPE' for Type"},
	} {
		e := AsError(tc.err)
		if e == nil || e.Code != CodeProtocol || e.Message != tc.want {
			t.Errorf("%v, want %q", tc.err, tc.want)
		}
	}
}
