// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

const queryBody = `{"TableName":"Tab","KeyConditionExpression":"k = :k","ExpressionAttributeValues":{":k":{"S":"a"}}`

func queryAnswer(v string) string {
	return `{"Items":[{"k":{"S":"a"},"n":{"N":"1"},"v":{"S":"` + v + `"}}],"Count":1,"ScannedCount":1}`
}

func TestQueriesAreKeptIfAskedFor(t *testing.T) {
	for _, operation := range []string{"Query", "Scan"} {
		body := queryBody + "}"
		if operation == "Scan" {
			body = `{"TableName":"Tab"}`
		}
		x := start(t, func(o *Options) { o.QueryTTL = time.Minute })
		want := func(what, answer string, asked int) {
			t.Helper()
			x.store.took(operation)
			if got := x.do(operation, body); got != answer {
				t.Errorf("%s %s: %s, want %s", operation, what, got, answer)
			}
			if n := x.store.took(operation); n != asked {
				t.Errorf("%s %s: the store was asked %d times, want %d", operation, what, n, asked)
			}
		}
		x.do("PutItem", putBody("1"))
		want("first", queryAnswer("1"), 1)
		want("again", queryAnswer("1"), 0)
		x.do("PutItem", putBody("2"))
		want("after a write, which removes nothing", queryAnswer("1"), 0)
		if got, err := x.as("b", operation, body); got != queryAnswer("2") || err != nil {
			t.Errorf("%s of another principal: %s %v", operation, got, err)
		}
		if got := x.do(operation, strings.TrimSuffix(body, "}")+`,"ConsistentRead":true}`); got != queryAnswer("2") {
			t.Errorf("consistent %s: %s", operation, got)
		}
		x.clock.add(time.Minute)
		want("after its time", queryAnswer("2"), 1)
		if s := x.Stats(); s.QueryHits != 2 || s.QueryMisses != 3 {
			t.Errorf("%+v", s)
		}
		x.do("DeleteTable", `{"TableName":"Tab"}`)
		x.do("CreateTable", createT)
		want("after another table", `{"Items":[],"Count":0,"ScannedCount":0}`, 1)
	}
}

func TestQueriesAreNotKeptUnasked(t *testing.T) {
	x := start(t)
	for range 3 {
		x.do("Query", queryBody+"}")
	}
	if n, s := x.store.took("Query"), x.Stats(); n != 3 || s.QueryHits+s.QueryMisses != 0 || s.Entries != 0 {
		t.Errorf("asked %d times; %+v", n, s)
	}
}

func TestKeptQueriesTakeNoCapacity(t *testing.T) {
	x := start(t, func(o *Options) { o.QueryTTL = time.Minute })
	x.do("PutItem", putBody("1"))
	body := queryBody + `,"ReturnConsumedCapacity":"INDEXES"}`
	for i, units := range []string{"0.5", "0.0"} {
		want := strings.TrimSuffix(queryAnswer("1"), "}") + `,"ConsumedCapacity":{"TableName":"Tab","CapacityUnits":` + units + `,"Table":{"CapacityUnits":` + units + `}}}`
		if got := x.do("Query", body); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

func TestZeros(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"ConsumedCapacity":{"TableName":"1","u":1.5,"x":{"i":{"u":2}},"l":[1,null]},"b":[2]}`: `{"a":1,"ConsumedCapacity":{"TableName":"1","u":0.0,"x":{"i":{"u":0.0}},"l":[0.0,null]},"b":[2]}`,
		`{"a":{"ConsumedCapacity":1}}`: `{"a":{"ConsumedCapacity":1}}`,
		`[1]`:                          `[1]`,
		``:                             ``,
	} {
		if got := string(appendFree(nil, []byte(in))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// TestCanonical checks that equal documents have equal canonical forms, and other documents do not.
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1 , {"d":null,"c":"\u0041\/"} ] } `: `{"a":[1,{"c":"A/","d":null,},],"b":1,}`,
		`{"a":{"y":1,"x":2},"a":{"x":2,"y":1}}`:                   `{"a":{"x":2,"y":1,},"a":{"x":2,"y":1,},}`,
		`{"a":1,"b":0,"a":2}`:                                     `{"a":1,"a":2,"b":0,}`,
		`{"a":2,"b":0,"a":1}`:                                     `{"a":2,"a":1,"b":0,}`,
		`"x"`:                                                     `"x"`,
		`{}`:                                                      `{}`,
	} {
		var s sorter
		for range 2 { // reuses the memory of the last call
			got, ok := s.appendCanonical([]byte("-"), []byte(in))
			if string(got) != "-"+want || !ok {
				t.Errorf("%s becomes %s %v", in, got, ok)
			}
		}
	}
	for _, in := range []string{``, `{`, `{"a":1}}`, `{"a":}`, `nothing`} {
		if got, ok := new(sorter).appendCanonical(nil, []byte(in)); ok {
			t.Errorf("%s becomes %s", in, got)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":{"d":[1,"x"],"c":null}}`, `{"a":1,"b":0,"a":2}`, `[[],{}]`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var r jsontext.Reader
		r.Reset(in)
		r.Skip()
		valid := r.End() == nil
		got, ok := new(sorter).appendCanonical(nil, in)
		if ok != valid {
			t.Fatalf("%q is valid: %v, and canonical %v", in, valid, ok)
		}
		if !ok {
			return
		}
		// The form is JSON except for commas before an end, which a reader refuses. Nothing ever
		// reads it.
		again, ok := new(sorter).appendCanonical(nil, append([]byte(" "), in...))
		if !ok || string(again) != string(got) {
			t.Fatalf("%q becomes %q and %q", in, got, again)
		}
	})
}
