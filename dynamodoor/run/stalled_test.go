// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// TestTheAnswerCounts stops a door between checking its lease and sending a request, until the
// table is another one. The door must not report a write as done, and must repeat a read: the
// answer counts, not the sending.
func TestTheAnswerCounts(t *testing.T) {
	const sharded7, adoptable = "shards=7", plainTable + "}"
	again := func(create string) func(*testing.T, *Router) {
		return func(t *testing.T, b *Router) {
			must(t, b, "DeleteTable", deleteTab)
			must(t, b, "CreateTable", create)
			for i := range 20 {
				must(t, b, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%d"},"x":{"S":"new"}}}`, i))
			}
		}
	}
	adopts := func(t *testing.T, b *Router) {
		must(t, b, "DeleteItem", keyOfTab)
		must(t, b, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"adopt=suffix shards=7"}]}`)
	}
	sharded := func(step string) func(*testing.T, *Router) {
		return func(t *testing.T, b *Router) {
			must(t, b, "TagResource", changeTo(7))
			for stepOf(b) != step {
				if _, err := b.StepChange(t.Context(), "Tab"); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second)
		}
	}
	for _, c := range []struct {
		name, before string
		then         func(*testing.T, *Router)
	}{
		{"made again", shardedTable, again(strings.Replace(shardedTable, "shards=5", sharded7, 1))},
		{"adopted", adoptable, adopts},
		{"sharded, preparing", plainTable + "}", sharded("preparing")},
		{"sharded, stubbing", plainTable + "}", sharded("stubbing")},
		{"sharded, moving", plainTable + "}", sharded("moving")},
		{"sharded, settled", plainTable + "}", sharded("settled")},
	} {
		for _, i := range []int{3, 11} { // in other shards of 5 than of 7
			key := fmt.Sprintf(`"h":{"S":"a"},"r":{"S":"%d"}`, i)
			for operation, body := range map[string]string{
				"PutItem":            `{"TableName":"Tab","Item":{` + key + `,"x":{"S":"late"}}}`,
				"UpdateItem":         `{"TableName":"Tab","Key":{` + key + `},"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"late"}}}`,
				"DeleteItem":         `{"TableName":"Tab","Key":{` + key + `}}`,
				"BatchWriteItem":     `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{` + key + `}}}]}}`,
				"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{` + key + `}}}]}`,
				"ExecuteStatement":   `{"Statement":"DELETE FROM Tab WHERE h = 'a' AND r = '` + fmt.Sprint(i) + `'"}`,
				"GetItem":            `{"TableName":"Tab","ConsistentRead":true,"Key":{` + key + `}}`,
				"Query":              `{"TableName":"Tab","ConsistentRead":true,"KeyConditionExpression":"h = :h AND r = :r","ExpressionAttributeValues":{":h":{"S":"a"},":r":{"S":"` + fmt.Sprint(i) + `"}}}`,
			} {
				t.Run(fmt.Sprint(c.name, "/", operation, i), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						store := start(t, 1).store
						ofA := &stepped{Backend: store}
						a, b := doorOn(t, ofA, time.Second), doorOn(t, store, time.Second)
						must(t, b, "CreateTable", c.before)
						must(t, a, "PutItem", itemOfTab)
						ofA.other = func() { c.then(t, b) }
						ofA.at = ofA.calls.Load() + 1
						m, err := do(a, operation, body)
						if operation == "GetItem" || operation == "Query" {
							want, e := do(b, operation, body)
							if err != nil || e != nil || fmt.Sprint(m) != fmt.Sprint(want) {
								t.Errorf("%v, not %v (%v %v)", m, want, err, e)
							}
							return
						}
						if e := exception.Of(err); err == nil || e.Kind != exception.InternalServerError || !strings.Contains(e.Message, "not known") {
							t.Errorf("a late write is answered %v %v", m, err)
						}
					})
				})
			}
		}
	}
}

// TestAChangeWhileAWriteIsUnderWay begins a change of layout at one door while a write is under way at
// the other, which learns of the change before the write is answered. That takes less than a lease,
// so the doors wait for the write, and it is reported as done.
func TestAChangeWhileAWriteIsUnderWay(t *testing.T) {
	for _, create := range []string{shardedTable, plainTable + "}"} {
		synctest.Test(t, func(t *testing.T) {
			store := start(t, 1).store
			ofA := &stepped{Backend: store}
			a, b := doorOn(t, ofA, time.Second), doorOn(t, store, time.Second)
			must(t, b, "CreateTable", create)
			time.Sleep(2 * time.Second)
			must(t, a, "GetItem", keyOfTab) // the door has read the catalogue now
			begun := make(chan error, 1)
			ofA.other = func() {
				go func() {
					_, err := do(b, "TagResource", changeTo(7))
					begun <- err
				}()
				time.Sleep(700 * time.Millisecond)
				must(t, a, "GetItem", keyOfTab)
			}
			ofA.at = ofA.calls.Load() + 1
			must(t, a, "PutItem", itemOfTab)
			if err := <-begun; err != nil {
				t.Fatal(err)
			}
			for stepOf(b) != "" {
				if _, err := b.StepChange(t.Context(), "Tab"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
			}
			if m := must(t, b, "GetItem", keyOfTab); fmt.Sprint(m) == "map[]" {
				t.Errorf("the item is not there after the change")
			}
		})
	}
}

// TestAStallChangesNothing checks that a door that stalls while nothing changes answers as usual.
func TestAStallChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := start(t, 1).store
		ofA := &stepped{Backend: store}
		a := doorOn(t, ofA, time.Second)
		must(t, a, "CreateTable", shardedTable)
		for _, q := range [][2]string{{"PutItem", itemOfTab}, {"GetItem", keyOfTab}, {"DeleteItem", keyOfTab}} {
			ofA.other = func() { time.Sleep(time.Hour) }
			ofA.at = ofA.calls.Load() + 1
			must(t, a, q[0], q[1])
		}
	})
}
