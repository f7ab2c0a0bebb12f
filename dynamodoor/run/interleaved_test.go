// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
)

// stepped is a store that runs something before one of its calls.
type stepped struct {
	Backend
	calls atomic.Int64
	at    int64 // number of the call, from 1, before which other runs
	other func()
}

func (s *stepped) step() {
	if s.calls.Add(1) == s.at {
		s.other()
	}
}

func (s *stepped) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	s.step()
	return s.Backend.Do(ctx, operation, body, dst)
}

func (s *stepped) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	s.step()
	return s.Backend.Answer(ctx, q, use)
}

const (
	deleteTab   = `{"TableName":"Tab"}`
	arnOfTab    = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab"`
	indexedOnly = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"x","AttributeType":"S"}],` +
		`"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],` +
		`"GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],"Tags":[{"Key":"write-sharding.index.idx","Value":"shards=3"}]}`
)

// whatOneDoorDoes lists changes of table Tab that one door makes, with the state before.
var whatOneDoorDoes = []struct {
	name         string
	before, then [][2]string
	gone         bool // the table is gone afterwards
}{
	{"makes a sharded table", nil, [][2]string{{"CreateTable", shardedTable}}, false},
	{"makes a table with a sharded index", nil, [][2]string{{"CreateTable", indexedOnly}}, false},
	{"makes a plain table", nil, [][2]string{{"CreateTable", plainTable + "}"}}, false},
	{"deletes a sharded table", [][2]string{{"CreateTable", shardedTable}}, [][2]string{{"DeleteTable", deleteTab}}, true},
	{"makes a sharded table again", [][2]string{{"CreateTable", shardedTable}, {"DeleteTable", deleteTab}}, [][2]string{{"CreateTable", shardedTable}}, false},
	{"makes a sharded table a plain one", [][2]string{{"CreateTable", shardedTable}}, [][2]string{{"DeleteTable", deleteTab}, {"CreateTable", plainTable + "}"}}, false},
	{"makes a plain table a sharded one", [][2]string{{"CreateTable", plainTable + "}"}}, [][2]string{{"DeleteTable", deleteTab}, {"CreateTable", shardedTable}}, false},
	{"makes a plain table a sharded one in use", [][2]string{{"CreateTable", plainTable + "}"}}, [][2]string{{"TagResource", changeTo(3)}, {"Reshard", `{"TableName":"Tab","Action":"finish"}`}, {"steps", ""}}, false},
	{"makes a plain table a sharded one, and takes that back", [][2]string{{"CreateTable", plainTable + "}"}},
		[][2]string{{"TagResource", changeTo(3)}, {"Reshard", `{"TableName":"Tab","Action":"rollback"}`}, {"steps", ""}}, false},
	{"adds an index", [][2]string{{"CreateTable", shardedTable}}, [][2]string{{"UpdateTable", `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],` +
		`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"idx","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`}}, false},
}

// whatTheOtherIsAsked lists requests on table Tab, one of each kind.
var whatTheOtherIsAsked = [][2]string{
	{"GetItem", keyOfTab}, {"PutItem", itemOfTab}, {"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`},
	{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"2"}}}}]}`},
	{"BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a"},"r":{"S":"1"}}]}}}`},
	{"ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = 'a'"}`},
	{"DescribeTable", deleteTab}, {"UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":false}`}, {"DescribeTimeToLive", deleteTab},
	{"ListTagsOfResource", `{` + arnOfTab + `}`}, {"TagResource", `{` + arnOfTab + `,"Tags":[{"Key":"owner","Value":"me"}]}`}, {"UntagResource", `{` + arnOfTab + `,"TagKeys":["owner"]}`},
	{"CreateTable", shardedTable}, {"DeleteTable", deleteTab},
}

// TestTwoDoorsAtEachStep checks that the answer of one door while another changes a table is one
// that it might have given before or after. Nothing is damaged, and no client is told so. When the
// change is acknowledged, both doors see the new table. The test runs the whole change at each of
// the request's calls to the store, and the whole request at each of the change's calls; with -short, at
// each third call.
func TestTwoDoorsAtEachStep(t *testing.T) {
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for _, change := range whatOneDoorDoes {
		for _, asked := range whatTheOtherIsAsked {
			t.Run(change.name+"/"+asked[0], func(t *testing.T) {
				for _, first := range []string{"the request", "the change"} {
					for at, more := int64(1), true; more; at += step {
						synctest.Test(t, func(t *testing.T) { more = overlap(t, change.before, change.then, asked, change.gone, first, at) })
						if t.Failed() {
							t.Fatalf("%s is interrupted before its call %d", first, at)
						}
					}
				}
			})
		}
	}
}

// overlap carries out a change at door a and a request at door b, one within the other. It returns
// false if the first of them has no call number at.
func overlap(t *testing.T, before, then [][2]string, asked [2]string, gone bool, first string, at int64) (more bool) {
	const lease = time.Second
	store := start(t, 1).store
	ofA, ofB := &stepped{Backend: store}, &stepped{Backend: store}
	a, b := doorOn(t, ofA, lease), doorOn(t, ofB, lease)
	for i, q := range before {
		must(t, a, q[0], q[1])
		if i == 0 {
			must(t, b, "PutItem", itemOfTab) // the other door has seen it
		}
		time.Sleep(time.Millisecond)
	}
	if len(before) > 1 {
		time.Sleep(2 * lease)
	}
	changed := false
	change := func() {
		for _, q := range then {
			var err error
			if q[0] == "steps" {
				err = steps(t, a)
			} else {
				_, err = do(a, q[0], q[1])
			}
			// The other door was first, and the answer says so.
			if err != nil && (asked[0] != "CreateTable" && asked[0] != "DeleteTable" || !fair(err)) {
				t.Errorf("%s: %v", q[0], err)
			}
		}
		changed = true
	}
	request := func() {
		m, err := do(b, asked[0], asked[1])
		switch {
		case err != nil && !fair(err):
			t.Errorf("%s: %v", asked[0], err)
		case strings.Contains(fmt.Sprint(m), "evenkeel."):
			t.Errorf("%s shows what is hidden: %v", asked[0], m)
		case err != nil && changed && !gone && asked[0] != "CreateTable":
			t.Errorf("%s, after the table was there: %v", asked[0], err)
		}
	}
	if first == "the request" {
		ofB.calls.Store(0)
		ofB.at, ofB.other = at, change
		// The change comes in the middle. The answer may be based on what was found before it. It
		// may also say that the outcome of a write that took longer than a lease is unknown.
		_, err := do(b, asked[0], asked[1])
		late := err != nil && strings.Contains(err.Error(), "not known") && !items.OnlyReads(requestOf(asked[0]))
		if err != nil && !fair(err) && !late {
			t.Errorf("%s: %v", asked[0], err)
		}
		more, ofB.at = ofB.calls.Load() >= at, 0
		if !changed {
			change()
		}
	} else {
		ofA.calls.Store(0)
		ofA.at, ofA.other = at, request
		change()
		more, ofA.at = ofA.calls.Load() >= at, 0
	}
	if asked[0] == "DeleteTable" || asked[0] == "CreateTable" {
		// It is unknown which of them was first, but both doors must agree.
		_, e := do(a, "PutItem", itemOfTab)
		_, f := do(b, "PutItem", itemOfTab)
		if (e == nil) != (f == nil) || e != nil && (!fair(e) || !fair(f)) {
			t.Errorf("one door says %v, the other %v", e, f)
		}
		return more
	}
	for _, door := range []*Router{b, a} {
		_, err := do(door, "PutItem", itemOfTab)
		if gone && (err == nil || exception.Of(err).Kind != exception.ResourceNotFound) || !gone && err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
	if !gone {
		if m := must(t, b, "GetItem", keyOfTab); m["Item"] == nil {
			t.Errorf("afterwards: %v", m)
		}
	}
	synctest.Wait()
	return more
}

// steps carries out a change of table Tab to its end.
func steps(t *testing.T, r *Router) error {
	for more := true; more; {
		var err error
		if more, err = r.StepChange(t.Context(), "Tab"); err != nil {
			return err
		}
	}
	return nil
}

func requestOf(operation string) api.Request {
	q, _ := api.New(operation)
	return q
}

// fair reports whether an error is one for a table that does not exist, or is being created or
// deleted.
func fair(err error) bool {
	var e *exception.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Kind == exception.ResourceNotFound || e.Kind == exception.ResourceInUse
}
