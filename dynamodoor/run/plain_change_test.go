// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// TestAPlainTableBecomesASharded checks that, in every step in which a plain table becomes a sharded
// one and after it, all requests find exactly the existing items.
func TestAPlainTableBecomesASharded(t *testing.T) {
	const create = plainTable + "}"
	for _, to := range []int{1, 8} {
		t.Run(fmt.Sprintf("one door, to %d", to), func(t *testing.T) {
			r, store := startHasty(t)
			changed(t, r, r, store, nil, create, to, "")
		})
	}
	for _, step := range []string{"preparing", "looking", "stubbing", "moving", "closing"} {
		t.Run("taken back in "+step, func(t *testing.T) {
			r, store := startHasty(t)
			changed(t, r, r, store, nil, create, 8, step)
		})
	}
	t.Run("a door started anew at each step", func(t *testing.T) {
		r, store := startHasty(t)
		doors := &turns{all: []*Router{r}}
		changed(t, r, doors, store, func() *Router {
			again := New(Options{Backend: store, Caution: time.Nanosecond})
			if err := again.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			doors.all[0] = again
			return again
		}, create, 3, "moving")
	})
	for _, back := range []string{"", "looking", "stubbing"} {
		t.Run("two doors "+back, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, store := startHasty(t)
				doors := new(turns)
				for range 2 {
					r := New(Options{Backend: store, Lease: 100 * time.Millisecond, Caution: time.Nanosecond})
					if err := r.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					doors.all = append(doors.all, r)
				}
				changed(t, doors.all[0], doors, store, nil, create, 3, back)
			})
		})
	}
}

// TestALateWriteFindsNoTable checks that a write that a door had sent to the plain table, before it
// stalled until that was deleted, is carried out on the sharded table.
func TestALateWriteFindsNoTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := start(t, 1).store
		ofA := &stepped{Backend: store}
		a, b := doorOn(t, ofA, time.Second), doorOn(t, store, time.Second)
		must(t, b, "CreateTable", plainTable+"}")
		must(t, a, "PutItem", itemOfTab)
		ofA.other = func() {
			must(t, b, "TagResource", changeTo(3))
			if err := steps(t, b); err != nil {
				t.Fatal(err)
			}
		}
		ofA.at = ofA.calls.Load() + 1
		must(t, a, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"late"}}}`)
		for _, r := range []*Router{a, b} {
			if m := must(t, r, "Scan", `{"TableName":"Tab"}`); m["Count"] != 2.0 {
				t.Errorf("%v", m)
			}
		}
	})
}

// TestAMoverOfAPlainTableThatEnds checks that nothing is lost if a mover of a plain table ends at any
// request, and another continues.
func TestAMoverOfAPlainTableThatEnds(t *testing.T) {
	for _, back := range []string{"", "looking"} {
		r, store := startHasty(t)
		must(t, r, "CreateTable", plainTable+"}")
		const n = 40
		for i := range n {
			must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%03d"}}}`, i))
		}
		must(t, r, "TagResource", changeTo(8))
		r, ends := endingMovers(t, r, store, func(r *Router) {
			m := must(t, r, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`)
			if m["Count"] != float64(n) {
				t.Fatalf("%v items of %d in step %s", m["Count"], n, stepOf(r))
			}
			if back != "" && stepOf(r) == back {
				must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
			}
		})
		if ends < 5 && back == "" {
			t.Errorf("the mover was ended %d times", ends)
		}
		to := 8.0
		if back != "" {
			to = 0
		}
		m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`)
		if is, _ := m["to"].(float64); m["phase"] != "none" || is != to {
			t.Errorf("%v", m)
		}
		if names := fmt.Sprint(must(t, store, "ListTables", `{}`)["TableNames"]); strings.Count(names, " ") != 1 {
			t.Errorf("the store has the tables %s", names)
		}
	}
}

// withoutTransactions is a store that has none.
type withoutTransactions struct{ Backend }

func (s withoutTransactions) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if _, is := q.(*api.TransactGetItems); is {
		return exception.New(exception.UnknownOperation, "")
	}
	return s.Backend.Answer(ctx, q, use)
}

// withReplicas is a store whose tables have replicas in other regions.
type withReplicas struct{ Backend }

func (s withReplicas) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	out, err := s.Backend.Do(ctx, operation, body, dst)
	return bytes.Replace(out, []byte(`{"Table":{`), []byte(`{"Table":{"Replicas":[{"RegionName":"eu-west-1"}],`), 1), err
}

// TestPlainTablesThatStayPlain checks that a plain table that cannot be made a sharded one is refused
// before anything begins, with the reason, and that it stays as it is.
func TestPlainTablesThatStayPlain(t *testing.T) {
	r, store := startHasty(t)
	with := func(more string) string { return plainTable + "," + more + "}" }
	indexed := strings.Replace(indexedOnly, `,"Tags":[{"Key":"write-sharding.index.idx","Value":"shards=3"}]`, "", 1)
	for _, c := range []struct{ create, put, because string }{
		{indexed, "", "indexes"},
		{with(`"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`), "", "stream"},
		{`{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"}]}`, "", "no sort key"},
		{plainTable + "}", `"evenkeel.x":{"S":"y"}`, "evenkeel.x"},
		{plainTable + "}", `"evenkeel.v":{"S":"y"}`, "evenkeel.v"},
		{plainTable + "}", `"x":{"S":"` + strings.Repeat("y", 400<<10-10) + `"}`, "no room"},
	} {
		must(t, r, "CreateTable", c.create)
		if c.put != "" {
			must(t, r, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"},`+c.put+`}}`)
		}
		fails(t, r, exception.Validation, c.because, "Reshard", `{"TableName":"Tab","Action":"start","Shards":8}`)
		fails(t, r, exception.Validation, c.because, "TagResource", changeTo(8))
		m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"plan","Shards":8}`)
		if refused := fmt.Sprint(m["refused"]); !strings.Contains(refused, c.because) {
			t.Errorf("the plan says %s, not %s", refused, c.because)
		}
		if r.tables.Entry("Tab") != nil {
			t.Errorf("%s: the table has an entry", c.because)
		}
		must(t, r, "DeleteTable", deleteTab)
	}
	must(t, r, "CreateTable", with(`"DeletionProtectionEnabled":true`))
	fails(t, r, exception.Validation, "protect", "Reshard", `{"TableName":"Tab","Action":"start","Shards":8}`)
	must(t, r, "UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":false}`)
	for body, because := range map[string]string{
		`"Action":"start","Shards":0`:           "plain one already",
		`"Action":"start","Shards":1000000`:     "at most",
		`"Action":"start","Shards":3,"Key":"a"`: "whose keys have no shards",
		`"Action":"rollback"`:                   "no change",
		`"Action":"pause"`:                      "no change",
	} {
		fails(t, r, exception.Validation, because, "Reshard", `{"TableName":"Tab",`+body+`}`)
	}
	for value, because := range map[string]string{
		"strategy=rollover":    "add rows=100000",
		"shards=3 write-once":  "the option write-once is for a table that exists and was sharded by hand",
		"shards=3 separator=-": "the option separator is for a table that exists and was sharded by hand",
		"colour=red first=1":   "the option colour is not known; the options are strategy=calculated and shards=N",
		"strategy=radial":      "unknown strategy 'radial'",
		"shards=3 =5":          `"=5" has no option before the '='`,
	} {
		fails(t, r, exception.Validation, because, "TagResource", tagWith(value))
	}
	for because, o := range map[string]Options{
		"no transactions":     {Backend: withoutTransactions{store}},
		"replicas":            {Backend: withReplicas{store}},
		"rights of their own": {Backend: store, Rights: true},
	} {
		other := New(o)
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		fails(t, other, exception.Validation, because, "Reshard", `{"TableName":"Tab","Action":"start","Shards":8}`)
	}
	if names := fmt.Sprint(must(t, store, "ListTables", `{}`)["TableNames"]); names != "[Tab]" {
		t.Errorf("the store has the tables %s", names)
	}
	if m := must(t, r, "ListTagsOfResource", `{`+arnOfTab+`}`); len(m["Tags"].([]any)) > 0 {
		t.Errorf("a tag is left: %v", m)
	}
}

// TestAnItemWithoutRoomPausesTheChange checks that an item that was written after the table had been
// read, and cannot move, pauses the change, which then goes on when it is gone.
func TestAnItemWithoutRoomPausesTheChange(t *testing.T) {
	r, _ := startHasty(t)
	must(t, r, "CreateTable", plainTable+"}")
	must(t, r, "PutItem", itemOfTab)
	must(t, r, "TagResource", changeTo(8))
	must(t, r, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"2"},"x":{"S":"`+strings.Repeat("y", 400<<10-10)+`"}}}`)
	if err := steps(t, r); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Fatal(err)
	}
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["paused"] != true || m["phase"] != "looking" {
		t.Fatal(m)
	}
	fails(t, r, exception.Validation, "maximum allowed size", "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"3"},"x":{"S":"`+strings.Repeat("y", 400<<10-10)+`"}}}`)
	must(t, r, "DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"2"}}}`)
	must(t, r, "Reshard", `{"TableName":"Tab","Action":"resume"}`)
	if err := steps(t, r); err != nil {
		t.Fatal(err)
	}
	if m := must(t, r, "Scan", `{"TableName":"Tab"}`); m["Count"] != 1.0 || r.tables.Entry("Tab").Physical == "Tab" {
		t.Error(m)
	}
}

// TestATableInAnotherPhysicalTable checks that clients know a table that was plain once by its name
// in all requests, and see nothing of the physical table.
func TestATableInAnotherPhysicalTable(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", strings.Replace(plainTable, `"BillingMode":"PAY_PER_REQUEST"`, `"ProvisionedThroughput":{"ReadCapacityUnits":7,"WriteCapacityUnits":9}`, 1)+`,"Tags":[{"Key":"owner","Value":"me"}]}`)
	must(t, r, "CreateTable", strings.Replace(plainTable, `"Tab"`, `"Zoo"`, 1)+"}")
	must(t, r, "UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ends"}}`)
	must(t, r, "PutItem", itemOfTab)
	must(t, r, "TagResource", changeTo(8))
	for stepOf(r) != "" {
		for _, q := range [][2]string{
			{"UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":true}`}, {"DeleteTable", deleteTab},
			{"UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"ends"}}`},
			{"TagResource", `{` + arnOfTab + `,"Tags":[{"Key":"a","Value":"b"}]}`}, {"UntagResource", `{` + arnOfTab + `,"TagKeys":["owner"]}`},
			{"CreateTable", plainTable + "}"}, {"Reshard", `{"TableName":"Tab","Action":"start","Shards":9}`},
		} {
			fails(t, r, exception.ResourceInUse, "", q[0], q[1])
		}
		for _, q := range [][2]string{
			{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"}}}},{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"2"}}}}],"ReturnConsumedCapacity":"TOTAL"}`},
			{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}}}}],"ReturnConsumedCapacity":"TOTAL"}`},
			{"BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"3"}}}}]},"ReturnConsumedCapacity":"TOTAL"}`},
			{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}},"ReturnConsumedCapacity":"TOTAL"}`},
			{"Scan", `{"TableName":"Tab","ReturnConsumedCapacity":"TOTAL"}`},
		} {
			m := must(t, r, q[0], q[1])
			if all, several := m["ConsumedCapacity"].([]any); strings.Contains(fmt.Sprint(m), "evenkeel") || several && len(all) != 1 || !strings.Contains(fmt.Sprint(m["ConsumedCapacity"]), "TableName:Tab") {
				t.Errorf("%s: %s: %v", stepOf(r), q[0], m)
			}
		}
		if names := fmt.Sprint(must(t, r, "ListTables", `{}`)["TableNames"]); names != "[Tab Zoo]" && names != "[Zoo Tab]" {
			t.Errorf("%s: %s", stepOf(r), names)
		}
		if m := fmt.Sprint(must(t, r, "DescribeTable", deleteTab)["Table"]); !strings.Contains(m, "TableName:Tab") || strings.Contains(m, "evenkeel") {
			t.Errorf("%s: %s", stepOf(r), m)
		}
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
	second := r.tables.Entry("Tab").Physical
	if names := fmt.Sprint(must(t, store, "ListTables", `{}`)["TableNames"]); names != "[Zoo evenkeel "+second+"]" {
		t.Errorf("the store has the tables %s", names)
	}
	fails(t, r, exception.ResourceNotFound, "", "GetItem", strings.Replace(keyOfTab, `"Tab"`, `"`+second+`"`, 1))
	fails(t, r, exception.ResourceNotFound, "", "DescribeTable", `{"TableName":"`+second+`"}`)
	seen := []string{}
	for from := ""; ; {
		m := must(t, r, "ListTables", `{"Limit":1`+from+`}`)
		for _, name := range m["TableNames"].([]any) {
			seen = append(seen, name.(string))
		}
		if m["LastEvaluatedTableName"] == nil {
			break
		}
		from = fmt.Sprintf(`,"ExclusiveStartTableName":"%s"`, m["LastEvaluatedTableName"])
	}
	if slices.Sort(seen); !slices.Equal(seen, []string{"Tab", "Zoo"}) {
		t.Errorf("the tables are %v", seen)
	}
	m := must(t, r, "DescribeTable", deleteTab)["Table"].(map[string]any)
	if throughput := fmt.Sprint(m["ProvisionedThroughput"]); !strings.Contains(arnOfTab, fmt.Sprint(m["TableArn"])) || strings.Contains(fmt.Sprint(m), "evenkeel") || !strings.Contains(throughput, "WriteCapacityUnits:9") {
		t.Errorf("%v", m)
	}
	if m := fmt.Sprint(must(t, r, "DescribeTimeToLive", deleteTab)); !strings.Contains(m, "AttributeName:ends") {
		t.Error(m)
	}
	must(t, r, "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"a","Value":"b"}]}`)
	if m := fmt.Sprint(must(t, r, "ListTagsOfResource", `{`+arnOfTab+`}`)); m != "map[Tags:[map[Key:a Value:b] map[Key:owner Value:me] map[Key:write-sharding Value:strategy=calculated shards=8]]]" {
		t.Error(m)
	}
	must(t, r, "UntagResource", `{`+arnOfTab+`,"TagKeys":["a"]}`)
	m = must(t, r, "BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a"},"r":{"S":"1"}}]}},"ReturnConsumedCapacity":"TOTAL"}`)
	if text := fmt.Sprint(m); !strings.Contains(text, "Responses:map[Tab:[map[h:") || !strings.Contains(text, "TableName:Tab") {
		t.Errorf("%v", m)
	}
	must(t, r, "UpdateTable", `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],`+
		`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"idx","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},"Projection":{"ProjectionType":"ALL"}}}]}`)
	fails(t, r, exception.Validation, "stream", "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`)
	must(t, r, "TagResource", changeTo(3))
	if err := steps(t, r); err != nil {
		t.Fatal(err)
	}
	r = again(t, store, 1)
	if m := must(t, r, "GetItem", keyOfTab); m["Item"] == nil {
		t.Error(m)
	}
	must(t, r, "DeleteTable", deleteTab)
	if names := fmt.Sprint(must(t, store, "ListTables", `{}`)["TableNames"]); names != "[Zoo evenkeel]" {
		t.Errorf("the store has the tables %s", names)
	}
	must(t, r, "CreateTable", plainTable+"}")
	if m := must(t, r, "GetItem", keyOfTab); m["Item"] != nil {
		t.Error(m)
	}
}

// TestAScanAcrossThePlainTablesEnd checks a Scan in pages and segments while the table takes a step
// between two pages. It must show each item once. If it began before the plain table was deleted, it
// must begin again.
func TestAScanAcrossThePlainTablesEnd(t *testing.T) {
	for from := range 7 {
		r, _ := startHasty(t)
		must(t, r, "CreateTable", plainTable+"}")
		const n = 60
		put := func(i int) {
			must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"key %d"},"r":{"S":"%03d"}}}`, i%7, i))
		}
		for i := range n {
			put(i)
		}
		step := func() {
			if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
				t.Fatal(err)
			}
		}
		if from > 0 {
			must(t, r, "TagResource", changeTo(8))
		}
		for range from - 1 {
			step()
		}
		seen, starts, began := map[string]int{}, []string{"", ""}, stepOf(r)
		for page := 0; page < 200 && (starts[0] != "end" || starts[1] != "end"); page++ {
			segment := page % 2
			if starts[segment] == "end" {
				continue
			}
			m := must(t, r, "Scan", fmt.Sprintf(`{"TableName":"Tab","Limit":5,"Segment":%d,"TotalSegments":2%s}`, segment, starts[segment]))
			for _, it := range m["Items"].([]any) {
				seen[it.(map[string]any)["r"].(map[string]any)["S"].(string)]++
			}
			if starts[segment] = "end"; m["LastEvaluatedKey"] != nil {
				starts[segment] = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"].(map[string]any))
			}
			if page == 2 && from == 0 {
				must(t, r, "TagResource", changeTo(8))
			}
			put(page % n) // moves it, if it is time
			if page%3 == 2 && stepOf(r) != "settled" {
				step()
			}
		}
		for i := range n {
			if key := fmt.Sprintf("%03d", i); seen[key] != 1 {
				t.Errorf("a Scan that began in %q shows %s %d times", began, key, seen[key])
			}
		}
	}
	r, _ := startHasty(t)
	must(t, r, "CreateTable", plainTable+"}")
	for i := range 10 {
		must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%03d"}}}`, i))
	}
	positions := []string{}
	scan := func() {
		m := must(t, r, "Scan", `{"TableName":"Tab","Limit":5}`)
		positions = append(positions, jsonOf(t, m["LastEvaluatedKey"].(map[string]any)))
	}
	scan()
	must(t, r, "TagResource", changeTo(8))
	for stepOf(r) != "" {
		if stepOf(r) != "settled" && stepOf(r) != "dropping" {
			scan()
		}
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
	for _, position := range positions {
		fails(t, r, exception.Validation, "begin it anew", "Scan", `{"TableName":"Tab","ExclusiveStartKey":`+position+`}`)
	}
}

// TestAChangeWaitsForWhatWasForwarded checks that a change of a plain table begins to move nothing
// before the only door has answered what it had forwarded when the table was plain.
func TestAChangeWaitsForWhatWasForwarded(t *testing.T) {
	for _, others := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			of := &stepped{Backend: start(t, 1).store}
			r := New(Options{Backend: of})
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if others { // then the door decodes each request
				must(t, r, "CreateTable", strings.Replace(shardedTable, `"Tab"`, `"Other"`, 1))
			}
			must(t, r, "CreateTable", plainTable+"}")
			must(t, r, "PutItem", itemOfTab)
			arrived, goOn := make(chan bool), make(chan bool)
			of.other = func() {
				close(arrived)
				<-goOn
			}
			of.at = of.calls.Load() + 1
			put := make(chan error)
			go func() {
				_, err := do(r, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"slow"}}}`)
				put <- err
			}()
			<-arrived
			must(t, r, "TagResource", changeTo(3))
			stepped := make(chan error)
			go func() {
				_, err := r.StepChange(t.Context(), "Tab")
				stepped <- err
			}()
			time.Sleep(time.Hour)
			if at := stepOf(r); at != "preparing" {
				t.Errorf("the change is in step %s while a forwarded write is under way", at)
			}
			close(goOn)
			if err := <-put; err != nil {
				t.Error(err)
			}
			if err := <-stepped; err != nil || stepOf(r) != "looking" {
				t.Errorf("%v, in step %s", err, stepOf(r))
			}
			if err := steps(t, r); err != nil {
				t.Fatal(err)
			}
			if m := must(t, r, "Scan", `{"TableName":"Tab"}`); m["Count"] != 2.0 {
				t.Error(m)
			}
		})
	}
}

// TestALateWriteOfSeveralTables checks that a door that stalls does not acknowledge a write of a sharded
// table and of one that it took for plain, if that has become sharded meanwhile.
func TestALateWriteOfSeveralTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := start(t, 1).store
		ofA := &stepped{Backend: store}
		a, b := doorOn(t, ofA, time.Second), doorOn(t, store, time.Second)
		must(t, b, "CreateTable", strings.Replace(shardedTable, `"Tab"`, `"Other"`, 1))
		must(t, b, "CreateTable", plainTable+"}")
		must(t, a, "PutItem", itemOfTab)
		must(t, a, "PutItem", strings.Replace(itemOfTab, `"Tab"`, `"Other"`, 1))
		ofA.other = func() {
			must(t, b, "TagResource", changeTo(7))
			for stepOf(b) != "settled" {
				if _, err := b.StepChange(t.Context(), "Tab"); err != nil {
					t.Fatal(err)
				}
			}
		}
		ofA.at = ofA.calls.Load() + 1
		fails(t, a, exception.InternalServerError, "not known", "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"late"}}}}],"Other":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"late"}}}}]}}`)
	})
}
