// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// refuse decodes a body. For CreateTable it also checks the declaration. All other checks need a
// table.
func refuse(op string, body []byte) error {
	q, ok := api.New(op)
	if !ok {
		return exception.New(exception.UnknownOperation, "")
	}
	var d api.Decoder
	if err := q.Decode(&d, body); err != nil {
		return err
	}
	if c, ok := q.(*api.CreateTable); ok {
		_, err := schema.Create(&c.Declaration)
		return err
	}
	return nil
}

// The vectors are requests and the answers of dynalite 4.0.0 to them: the type and text of an
// error, or nothing if the request has the right form. limits_test.go has the answers that AWS has
// changed since then.
func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/dynalite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	n := 0
	for ; s.Scan(); n++ {
		var v struct {
			Op            string
			Body          json.RawMessage
			Type, Message string
		}
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		kind, message := "", ""
		if err := refuse(v.Op, v.Body); err != nil {
			e := exception.Of(err)
			kind, message = e.Kind.Name(), e.Message
		}
		if kind != v.Type || message != v.Message {
			t.Errorf("%s %s:\n got %s: %s\nwant %s: %s", v.Op, v.Body, kind, message, v.Type, v.Message)
		}
	}
	if err := s.Err(); err != nil || n < 500 {
		t.Fatalf("%d vectors, %v", n, err)
	}
}
