// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The oracle is DataStax's codec of the same protocol. It must read our messages as the same
// messages. We must read its messages as the same messages and write them again with the same
// bytes.

var versions = []Version{V4, V5}

// oracleBody encodes a message with the oracle.
func oracleBody(t rapid.TB, v Version, m message.Message) []byte {
	t.Helper()
	raw, err := frame.NewRawCodec().ConvertToRawFrame(frame.NewFrame(primitive.ProtocolVersion(v), 1, m))
	if err != nil {
		t.Fatalf("oracle cannot encode %v: %v", m, err)
	}
	return raw.Body
}

// oracleMessage decodes a body with the oracle.
func oracleMessage(t rapid.TB, v Version, op Op, body []byte) message.Message {
	t.Helper()
	h := Header{Version: v, Response: op.Response(), Stream: 1, Op: op}
	f, err := frame.NewCodec().DecodeFrame(bytes.NewReader(AppendFrame(nil, h, body)))
	if err != nil {
		t.Fatalf("oracle cannot decode %s %x: %v", op, body, err)
	}
	return f.Body.Message
}

func genBytes(t *rapid.T, min int, label string) []byte {
	b := rapid.SliceOfN(rapid.Byte(), min, 40).Draw(t, label)
	if b == nil {
		b = []byte{}
	}
	return b
}

func genName(t *rapid.T, label string) string {
	return rapid.StringMatching(`[a-zA-Z_é]{1,20}`).Draw(t, label)
}

func genConsistency(t *rapid.T, label string) Consistency {
	return Consistency(rapid.Uint16Range(0, uint16(LocalOne)).Draw(t, label))
}

// genValues generates values for us and for the oracle.
func genValues(t *rapid.T, named bool) (Values, []*primitive.Value, map[string]*primitive.Value) {
	v := Values{Named: named}
	list := []*primitive.Value{}
	byName := map[string]*primitive.Value{}
	for range rapid.IntRange(0, 6).Draw(t, "values") {
		name := ""
		if named {
			if name = genName(t, "name"); byName[name] != nil {
				continue
			}
			v.Raw = AppendString(v.Raw, name)
		}
		var o *primitive.Value
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			o = primitive.NewNullValue()
			v.Raw = AppendNull(v.Raw)
		case 1:
			o = primitive.NewUnsetValue()
			v.Raw = AppendUnset(v.Raw)
		default:
			b := genBytes(t, 0, "value")
			o = primitive.NewValue(b)
			v.Raw = AppendBytes(v.Raw, b)
		}
		byName[name] = o
		list = append(list, o)
		v.Count++
	}
	return v, list, byName
}

// genParams generates the parameters of a QUERY or an EXECUTE for us and for the oracle. (The
// oracle writes named values in any order; they have a test of their own.)
func genParams(t *rapid.T, v Version) (Params, *message.QueryOptions) {
	p := Params{Consistency: genConsistency(t, "consistency")}
	o := &message.QueryOptions{Consistency: primitive.ConsistencyLevel(p.Consistency)}
	with := func(label string) bool { return rapid.Bool().Draw(t, label) }
	if with("with values") {
		values, list, _ := genValues(t, false)
		if values.Count > 0 {
			p.SetValues(values)
			o.PositionalValues = list
		}
	}
	if with("skip metadata") {
		p.SetSkipMetadata(true)
		o.SkipMetadata = true
	}
	if with("with page size") {
		o.PageSize = rapid.Int32Min(1).Draw(t, "page size")
		p.SetPageSize(o.PageSize)
	}
	if with("with paging state") {
		o.PagingState = genBytes(t, 0, "paging state")
		p.SetPagingState(o.PagingState)
	}
	if with("with serial consistency") {
		c := rapid.SampledFrom([]Consistency{Serial, LocalSerial}).Draw(t, "serial consistency")
		oc := primitive.ConsistencyLevel(c)
		o.SerialConsistency = &oc
		p.SetSerialConsistency(c)
	}
	if with("with timestamp") {
		ts := rapid.Int64Min(math.MinInt64+1).Draw(t, "timestamp")
		o.DefaultTimestamp = &ts
		p.SetDefaultTimestamp(ts)
	}
	if v >= V5 && with("with keyspace") {
		o.Keyspace = genName(t, "keyspace")
		p.SetKeyspace([]byte(o.Keyspace))
	}
	if v >= V5 && with("with now") {
		now := rapid.Int32().Draw(t, "now")
		o.NowInSeconds = &now
		p.SetNowInSeconds(now)
	}
	return p, o
}

var compareParams = cmp.Options{cmp.AllowUnexported(Values{}), cmp.FilterPath(func(p cmp.Path) bool {
	return strings.HasSuffix(p.String(), "Values.Raw") || strings.HasSuffix(p.String(), "ChildRaw")
}, cmpopts.EquateEmpty())}

// check compares bodies and messages in both directions.
func check[T any](t *rapid.T, v Version, op Op, m T, o message.Message, ourBody []byte, parse func(Version, []byte) (T, error)) {
	t.Helper()
	theirs := oracleBody(t, v, o)
	if !bytes.Equal(ourBody, theirs) {
		t.Fatalf("%s\nours   %x\noracle %x", op, ourBody, theirs)
	}
	if diff := cmp.Diff(o, oracleMessage(t, v, op, ourBody), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s read by the oracle (-want +got)\n%s", op, diff)
	}
	got, err := parse(v, theirs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got, compareParams); diff != "" {
		t.Fatalf("%s read by us (-want +got)\n%s", op, diff)
	}
	for n := range theirs {
		if _, err := parse(v, theirs[:n]); err == nil {
			t.Fatalf("%s cut to %d of %d bytes is accepted", op, n, len(theirs))
		}
	}
}

func TestOracleQuery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(versions).Draw(t, "version")
		p, o := genParams(t, v)
		text := rapid.String().Draw(t, "text")
		q := Query{Text: []byte(text), Params: p}
		body := AppendQuery(nil, v, &q)
		if text == "" {
			text = " " // the oracle requires a text
			q.Text = []byte(text)
			body = AppendQuery(nil, v, &q)
		}
		check(t, v, OpQuery, q, &message.Query{Query: text, Options: o}, body, ParseQuery)
		if got, err := QueryText(body); err != nil || string(got) != text {
			t.Fatalf("text %q, %v", got, err)
		}
	})
}

func TestOracleNamedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(versions).Draw(t, "version")
		values, _, byName := genValues(t, true)
		if values.Count == 0 {
			return
		}
		q := Query{Text: []byte("x"), Params: Params{Consistency: One}}
		q.Params.SetValues(values)
		o := oracleMessage(t, v, OpQuery, AppendQuery(nil, v, &q)).(*message.Query)
		if diff := cmp.Diff(byName, o.Options.NamedValues, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("read by the oracle (-want +got)\n%s", diff)
		}
		again, err := ParseQuery(v, oracleBody(t, v, o))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]*primitive.Value{}
		for it := again.Params.Values.Iter(); it.Next(); {
			got[string(it.Name)] = oracleValue(it.Value)
		}
		if diff := cmp.Diff(byName, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("read by us (-want +got)\n%s", diff)
		}
	})
}

func oracleValue(v Value) *primitive.Value {
	if v.Unset {
		return primitive.NewUnsetValue()
	}
	return primitive.NewValue(v.Bytes)
}

func TestOracleExecute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(versions).Draw(t, "version")
		p, o := genParams(t, v)
		e := Execute{ID: genBytes(t, 1, "id"), Params: p}
		m := &message.Execute{QueryId: e.ID, Options: o}
		if v >= V5 {
			e.MetadataID = genBytes(t, 1, "metadata id")
			m.ResultMetadataId = e.MetadataID
		}
		body := AppendExecute(nil, v, &e)
		check(t, v, OpExecute, e, m, body, ParseExecute)
		if got, err := ExecuteID(body); err != nil || !bytes.Equal(got, e.ID) {
			t.Fatalf("id %x, %v", got, err)
		}

		// Values inserted, another page size, paging state, consistency.
		at := rapid.IntRange(0, e.Params.Values.Count).Draw(t, "at")
		insert, list, _ := genValues(t, false)
		if insert.Count == 0 {
			return
		}
		r, err := ParseExecute(v, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Params.SetValues(r.Params.Values.Insert(at, insert.Count, insert.Raw))
		r.Params.SetPageSize(77)
		r.Params.SetPagingState([]byte("state"))
		r.Params.Consistency = EachQuorum
		all := append([]*primitive.Value{}, o.PositionalValues[:at]...)
		all = append(append(all, list...), o.PositionalValues[at:]...)
		o.PositionalValues, o.PageSize, o.PagingState = all, 77, []byte("state")
		o.Consistency = primitive.ConsistencyLevelEachQuorum
		rewritten := AppendExecute(nil, v, &r)
		if want := oracleBody(t, v, m); !bytes.Equal(rewritten, want) {
			t.Fatalf("rewritten %x, oracle %x", rewritten, want)
		}
		if values := r.Params.Values; values.Len() != len(values.Append(nil)) {
			t.Fatalf("length %d, appended %d", values.Len(), len(values.Append(nil)))
		}
	})
}

func TestOraclePrepare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(versions).Draw(t, "version")
		p := Prepare{Text: []byte(genName(t, "text"))}
		m := &message.Prepare{Query: string(p.Text)}
		if v >= V5 && rapid.Bool().Draw(t, "with keyspace") {
			m.Keyspace = genName(t, "keyspace")
			p.Keyspace = []byte(m.Keyspace)
		}
		check(t, v, OpPrepare, p, m, AppendPrepare(nil, v, &p), ParsePrepare)
	})
}

func TestOracleBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(versions).Draw(t, "version")
		b := Batch{Type: BatchType(rapid.IntRange(0, 2).Draw(t, "type"))}
		m := &message.Batch{Type: primitive.BatchType(b.Type)}
		var want []BatchStatement
		for range rapid.IntRange(1, 5).Draw(t, "statements") {
			values, list, _ := genValues(t, false)
			s := BatchStatement{Values: values, Start: len(b.Raw)}
			child := &message.BatchChild{Values: list}
			if rapid.Bool().Draw(t, "prepared") {
				s.Prepared, s.ID = true, genBytes(t, 1, "id")
				child.Id = s.ID
			} else {
				s.Text = []byte(genName(t, "text"))
				child.Query = string(s.Text)
			}
			b.Raw = AppendBatchStatement(b.Raw, &s)
			s.End = len(b.Raw)
			b.Count++
			want = append(want, s)
			m.Children = append(m.Children, child)
		}
		p, o := genParams(t, v)
		p.SetValues(Values{})
		p.SetPageSize(0)
		p.SetPagingState(nil)
		p.SetSkipMetadata(false)
		p.PageSize, p.PagingState = 0, nil
		b.Params = p
		m.Consistency, m.SerialConsistency, m.DefaultTimestamp = o.Consistency, o.SerialConsistency, o.DefaultTimestamp
		m.Keyspace, m.NowInSeconds = o.Keyspace, o.NowInSeconds
		body := AppendBatch(nil, v, &b)
		check(t, v, OpBatch, b, m, body, ParseBatch)
		got, err := ParseBatch(v, body)
		if err != nil {
			t.Fatal(err)
		}
		it := got.Iter()
		for i := 0; it.Next(); i++ {
			if diff := cmp.Diff(want[i], it.BatchStatement, compareParams); diff != "" {
				t.Fatalf("statement %d (-want +got)\n%s", i, diff)
			}
		}
	})
}
