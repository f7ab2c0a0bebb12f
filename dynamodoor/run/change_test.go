// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/reshard"
)

func changeTo(shards int) string {
	if shards == 0 {
		return `{` + arnOfTab + `,"Tags":[{"Key":"write-sharding","Value":""}]}`
	}
	return fmt.Sprintf(`{`+arnOfTab+`,"Tags":[{"Key":"write-sharding","Value":"shards=%d"}]}`, shards)
}

// startHasty returns a router on an engine in memory that keeps no stubs for caution.
func startHasty(t testing.TB) (*Router, *recorder) {
	store := &recorder{Store: itemstore.Open(t, dynamodb.Options{}), requests: map[string]int{}}
	r := New(Options{Backend: store, Fanout: 4, Caution: time.Nanosecond})
	if err := r.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r, store
}

// stepOf returns the step of table Tab's change, or "" if there is none.
func stepOf(r *Router) string {
	if e := r.tables.Entry("Tab"); e != nil && e.Change != nil {
		return e.Change.Step
	}
	return ""
}

// TestAChangeOfLayout checks that, in every step of a change and after it, all requests find
// exactly the existing items, and that only items that must move do.
func TestAChangeOfLayout(t *testing.T) {
	for _, to := range []int{8, 3, 0} {
		t.Run(fmt.Sprintf("one door, to %d", to), func(t *testing.T) {
			r, store := startHasty(t)
			changed(t, r, r, store, nil, shardedTable, to, "")
		})
	}
	for _, step := range []string{"stubbing", "moving", "closing"} {
		t.Run("taken back in "+step, func(t *testing.T) {
			r, store := startHasty(t)
			changed(t, r, r, store, nil, shardedTable, 8, step)
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
		}, shardedTable, 3, "moving")
	})
	t.Run("two doors", func(t *testing.T) {
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
			changed(t, doors.all[0], doors, store, nil, shardedTable, 3, "")
		})
	})
}

// turns is a group of doors that take turns.
type turns struct {
	all []*Router
	n   int
}

func (d *turns) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	d.n++
	return d.all[d.n%len(d.all)].Do(ctx, operation, body, dst)
}

// changed creates table Tab, changes its layout to a number of shards with one door's mover, and sends
// requests to r. anew, if it is not nil, returns another door, which replaces the mover's door after
// each step. If back is not empty, the change is taken back in that step.
func changed(t *testing.T, mover *Router, r doer, store *recorder, anew func() *Router, create string, to int, back string) {
	must(t, r, "CreateTable", create)
	plain := create != shardedTable
	want := map[string]string{}
	n := 0
	put := func(text string) {
		key := fmt.Sprintf("%03d", n)
		n++
		must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%s"},"x":{"S":"%s"}}}`, key, text))
		want[key] = text
	}
	for range 60 {
		put("before")
	}
	var steps []string
	check := func() {
		t.Helper()
		step := stepOf(mover)
		got := map[string]string{}
		query := func(limit string, shown func(m map[string]any)) {
			start := ""
			for {
				m := must(t, r, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}`+limit+start+`}`)
				if strings.Contains(fmt.Sprint(m), "evenkeel.") {
					t.Fatalf("%s: a query shows what is hidden: %v", step, m)
				}
				shown(m)
				last, ok := m["LastEvaluatedKey"]
				if !ok {
					return
				}
				start = `,"ExclusiveStartKey":` + jsonOf(t, last.(map[string]any))
			}
		}
		add := func(m map[string]any) {
			for _, it := range m["Items"].([]any) {
				key, x := it.(map[string]any)["r"].(map[string]any)["S"].(string), it.(map[string]any)["x"].(map[string]any)["S"].(string)
				if _, twice := got[key]; twice {
					t.Errorf("%s: %s is shown twice", step, key)
				}
				got[key] = x
			}
		}
		for _, limit := range []string{"", `,"Limit":7`, `,"ScanIndexForward":false`} {
			clear(got)
			query(limit, add)
			if !maps.Equal(got, want) {
				t.Fatalf("%s: Query%s has %d items of %d", step, limit, len(got), len(want))
			}
		}
		for _, limit := range []string{"", `,"Limit":7`} {
			clear(got)
			start := ""
			for {
				m := must(t, r, "Scan", `{"TableName":"Tab"`+limit+start+`}`)
				add(m)
				last, ok := m["LastEvaluatedKey"]
				if !ok {
					break
				}
				start = `,"ExclusiveStartKey":` + jsonOf(t, last.(map[string]any))
			}
			if !maps.Equal(got, want) {
				t.Fatalf("%s: Scan%s has %d items of %d", step, limit, len(got), len(want))
			}
		}
		for key, x := range want {
			m := must(t, r, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+key+`"}}}`)
			if fmt.Sprint(m["Item"]) != fmt.Sprintf("map[h:map[S:a] r:map[S:%s] x:map[S:%s]]", key, x) {
				t.Fatalf("%s: GetItem %s: %v, not %s", step, key, m, x)
			}
			m = must(t, r, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h AND r = :r","ExpressionAttributeValues":{":h":{"S":"a"},":r":{"S":"`+key+`"}}}`)
			if len(m["Items"].([]any)) != 1 {
				t.Fatalf("%s: Query of %s: %v", step, key, m)
			}
		}
	}
	write := func() {
		step := stepOf(mover)
		for range 6 {
			put("put in " + step)
		}
		i := 0
		for _, key := range sortedKeys(want) {
			it := `{"h":{"S":"a"},"r":{"S":"` + key + `"}}`
			switch i++; (i + len(steps)) % 12 {
			case 0:
				must(t, r, "DeleteItem", `{"TableName":"Tab","Key":`+it+`,"ConditionExpression":"attribute_exists(x)"}`)
				delete(want, key)
			case 1:
				m := must(t, r, "UpdateItem", `{"TableName":"Tab","Key":`+it+`,"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"updated in `+step+`"}},"ReturnValues":"UPDATED_OLD"}`)
				if got := fmt.Sprint(m["Attributes"]); got != "map[x:map[S:"+want[key]+"]]" {
					t.Fatalf("%s: the update of %s returns %s, not %s", step, key, got, want[key])
				}
				want[key] = "updated in " + step
			case 2:
				fails(t, r, exception.ConditionalCheckFailed, "", "PutItem", `{"TableName":"Tab","Item":`+it+`,"ConditionExpression":"attribute_not_exists(r)"}`)
			case 3:
				must(t, r, "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"Tab","Key":`+it+`,"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"transacted in `+step+`"}}}}]}`)
				want[key] = "transacted in " + step
			case 4:
				must(t, r, "BatchWriteItem", `{"RequestItems":{"Tab":[{"DeleteRequest":{"Key":`+it+`}}]}}`)
				delete(want, key)
			case 5:
				must(t, r, "UpdateItem", `{"TableName":"Tab","Key":`+it+`,"UpdateExpression":"REMOVE y"}`)
			case 6:
				must(t, r, "ExecuteStatement", `{"Statement":"DELETE FROM Tab WHERE h = 'a' AND r = '`+key+`'"}`)
				delete(want, key)
				must(t, r, "UpdateItem", `{"TableName":"Tab","Key":`+it+`,"UpdateExpression":"REMOVE x"}`) // this update creates no item
			}
		}
	}
	check()
	must(t, mover, "TagResource", changeTo(to))
	steps8 := "looking stubbing moving closing settled cleaning "
	if back != "" {
		steps8 += steps8
		to = 5
	}
	if plain {
		steps8 = "preparing looking stubbing moving closing settled dropping "
		switch back {
		case "":
		case "preparing", "looking":
			steps8, to = steps8[:strings.Index(steps8, back)]+"leaving ", 0
		default:
			steps8, to = steps8+"looking stubbing moving closing settled cleaning ", 0
		}
	}
	for more, taken := true, false; ; {
		steps = append(steps, stepOf(mover))
		if back != "" && stepOf(mover) == back && !taken {
			taken = true
			m := must(t, mover, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
			if strings.Contains(steps8, "leaving") {
				if m["phase"] != "leaving" {
					t.Fatalf("%v", m)
				}
				steps = steps[:len(steps)-1]
				continue
			}
			if m["taken_back"] != true || m["phase"] != back {
				t.Fatalf("%v", m)
			}
			if _, err := do(mover, "Reshard", `{"TableName":"Tab","Action":"rollback"}`); err == nil || !strings.Contains(err.Error(), "taken back already") {
				t.Fatalf("%v", err)
			}
		}
		check()
		write()
		check()
		if !more {
			break
		}
		var err error
		if more, err = mover.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
		if anew != nil {
			mover = anew()
		}
	}
	if got := strings.ReplaceAll(strings.Join(steps, " ")+" ", "  ", " "); got != steps8 {
		t.Errorf("the steps are %q", got)
	}
	physical := "Tab"
	if e := mover.tables.Entry("Tab"); e != nil {
		physical = e.Physical
	}
	raw, err := store.Do(t.Context(), "Scan", []byte(`{"TableName":"`+physical+`"}`), nil)
	if strings.Contains(steps8, "leaving") {
		if err != nil || strings.Contains(string(raw), "evenkeel.") || physical != "Tab" || mover.tables.Entry("Tab") != nil {
			t.Errorf("the table is not as it was: %s %v", raw, err)
		}
		return
	}
	if err != nil || strings.Contains(string(raw), "evenkeel.moved") || strings.Count(string(raw), `"evenkeel.pk"`) != len(want) {
		t.Errorf("%d items are left of %d, or stubs (%v)", strings.Count(string(raw), `"evenkeel.pk"`), len(want), err)
	}
	if m := must(t, mover, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["phase"] != "none" || m["to"] != float64(to) {
		t.Errorf("%v", m)
	}
	if to == 0 && !plain {
		for _, h := range pksOf(t, store) {
			if h != "a-6" { // the one place of the key, which no earlier layout had
				t.Errorf("an item is in %s", h)
			}
		}
	}
}

// pksOf returns the physical partitions of table Tab's items, each once.
func pksOf(t *testing.T, store *recorder) []string {
	raw, err := store.Do(t.Context(), "Scan", []byte(`{"TableName":"Tab"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Items []map[string]map[string]string
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, it := range page.Items {
		all[it["evenkeel.pk"]["S"]] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// endingMovers carries out the change of table Tab. In each step a mover ends at its first request, the next
// one at its second request, and so on, until one completes the step. Each works at a door that has just
// started. After each step endingMovers calls check. It returns the last door, and how many movers ended.
func endingMovers(t *testing.T, r *Router, store *recorder, check func(r *Router)) (_ *Router, ends int) {
	t.Helper()
	for left := 1; ; left++ {
		more, err := r.StepChange(countingDown(t.Context(), left), "Tab")
		if err != nil {
			ends++
			r = again(t, store, 1)
			r.mover.Caution = time.Nanosecond
			continue
		}
		left = 0
		check(r)
		if !more {
			return r, ends
		}
	}
}

// TestAMoverThatEnds checks that nothing is lost if a mover ends at any request within a page and
// another continues.
func TestAMoverThatEnds(t *testing.T) {
	r, store := startHasty(t)
	must(t, r, "CreateTable", shardedTable)
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
	})
	if ends < 5 {
		t.Errorf("the mover was ended %d times", ends)
	}
	if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["phase"] != "none" || m["to"] != 8.0 {
		t.Errorf("%v", m)
	}
}

// TestChangesThatAreRefusedPausedOrTakenBack checks that a change that cannot be carried out is
// refused before it begins, and that a change can be paused, and taken back while nothing has
// moved.
func TestChangesThatAreRefusedPausedOrTakenBack(t *testing.T) {
	r, _ := startHasty(t)
	ask := func(action string, shards int) (map[string]any, error) {
		return do(r, "Reshard", fmt.Sprintf(`{"TableName":"Tab","Action":"%s","Shards":%d}`, action, shards))
	}
	refused := func(because, action string, shards int) {
		t.Helper()
		if _, err := ask(action, shards); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("%s to %d: %v, not %q", action, shards, err, because)
		}
	}
	for create, because := range map[string]string{
		strings.Replace(shardedTable, `"Tags"`, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"Tags"`, 1): "stream",
		indexedOnly: "plain table",
	} {
		must(t, r, "CreateTable", create)
		refused(because, "start", 8)
		must(t, r, "DeleteTable", deleteTab)
	}
	must(t, r, "CreateTable", shardedTable)
	must(t, r, "PutItem", itemOfTab)
	refused("already", "start", 5)
	refused("at most", "start", 1_000_000)
	refused("no change", "pause", 0)
	refused("no change", "rollback", 0)
	if m, err := ask("plan", 3); err != nil || len(m["refused"].([]any)) != 0 || m["rows_moved"] != 1.0 {
		t.Errorf("%v %v", m, err)
	}
	if m, err := ask("plan", 50); err != nil || len(m["refused"].([]any)) != 0 || m["rows"] != 1.0 {
		t.Errorf("%v %v", m, err)
	}
	if m, err := ask("start", 50); err != nil || m["phase"] != "looking" || m["from"] != 5.0 || m["to"] != 50.0 {
		t.Errorf("%v %v", m, err)
	}
	refused("on the way", "start", 60)
	fails(t, r, exception.ResourceInUse, "another layout", "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`)
	if m, err := ask("pause", 0); err != nil || m["paused"] != true {
		t.Errorf("%v %v", m, err)
	}
	if more, err := r.StepChange(t.Context(), "Tab"); more || err != nil || stepOf(r) != "looking" {
		t.Errorf("a paused change goes on: %v %v %s", more, err, stepOf(r))
	}
	if m, err := ask("rollback", 0); err != nil || m["phase"] != "none" || m["to"] != 5.0 {
		t.Errorf("%v %v", m, err)
	}
	must(t, r, "GetItem", keyOfTab)
	if _, err := ask("start", 6); err != nil {
		t.Error(err)
	}
	for stepOf(r) != "settled" {
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
	refused("not taken back", "rollback", 0)
}

// TestItemsWithoutRoomPauseAChange checks that an item that a door has taken before it knew of a change, and
// that has no room for a longer shard number, pauses the change. Nothing of it is lost.
func TestItemsWithoutRoomPauseAChange(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, long := range []bool{false, true} {
			if own && long {
				continue // the door checks the one key of a change
			}
			r, store := startHasty(t)
			must(t, r, "CreateTable", shardedTable)
			if own {
				must(t, r, "Reshard", `{"TableName":"Tab","Action":"start","Shards":12,"Key":"a"}`)
			} else {
				must(t, r, "TagResource", changeTo(12))
			}
			h, x := "a", strings.Repeat("y", 400<<10-21)
			if long {
				h, x = strings.Repeat("k", 2046), "y"
			}
			key, old := "", 0
			for n, e := 100, r.tables.Entry("Tab"); key == ""; n++ {
				text := fmt.Sprintf(`{"h":{"S":"%s"},"r":{"S":"%d"}}`, h, n)
				item, err := new(attribute.Decoder).Item(attribute.Encoded(text))
				if err != nil {
					t.Fatal(err)
				}
				if e.Shift.New.Shard(item) >= 10 {
					key, old = text, e.Shift.Old.Shard(item)
				}
			}
			must(t, store, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"evenkeel.pk":{"S":"%s-%d"},"x":{"S":"%s"},%s}`, h, old, x, key[1:]))
			if err := steps(t, r); !exception.Is(err, exception.Validation) {
				t.Errorf("own %v, long %v: %v", own, long, err)
			}
			if m := must(t, r, "Reshard", `{"TableName":"Tab","Action":"status"}`); m["paused"] != true || m["phase"] != "looking" {
				t.Errorf("own %v, long %v: %v", own, long, m)
			}
			if long {
				must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
			} else {
				must(t, r, "UpdateItem", `{"TableName":"Tab","Key":`+key+`,"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"y"}}}`)
				must(t, r, "Reshard", `{"TableName":"Tab","Action":"resume"}`)
			}
			if err := steps(t, r); err != nil {
				t.Fatal(err)
			}
			if m := must(t, r, "GetItem", `{"TableName":"Tab","Key":`+key+`}`); m["Item"] == nil {
				t.Errorf("own %v, long %v: the item is lost", own, long)
			}
		}
	}
}

// TestTheMover checks that the mover carries out changes of several tables concurrently, from order
// to end, and ends with its context.
func TestTheMover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &recorder{Store: itemstore.Open(t, dynamodb.Options{}), requests: map[string]int{}}
		r := New(Options{Backend: store})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.RunMover(ctx)
		}()
		begin := time.Now()
		for _, name := range []string{"Tab", "Two"} {
			must(t, r, "CreateTable", strings.Replace(shardedTable, `"Tab"`, `"`+name+`"`, 1))
			for i := range 300 {
				must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"h":{"S":"a"},"r":{"S":"%d"}}}`, name, i))
			}
			must(t, r, "Reshard", `{"TableName":"`+name+`","Action":"start","Shards":9}`)
		}
		for _, name := range []string{"Tab", "Two"} {
			for {
				m := must(t, r, "Reshard", `{"TableName":"`+name+`","Action":"status"}`)
				at := slices.IndexFunc(r.Changes(), func(s reshard.Status) bool { return s.Table == name })
				if m["phase"] == "none" {
					if at >= 0 {
						t.Errorf("the change of %s has ended and is still known", name)
					}
					break
				}
				if m["phase"] == "settled" {
					if s := r.Changes()[at]; s.Phase != "settled" || s.RowsTotal != 300 || s.RowsVerified != 300 {
						t.Errorf("known without asking the store: %+v", s)
					}
				}
				if m["phase"] == "settled" && (m["rows_total"] != 300.0 || m["rows_verified"] != 300.0 || m["rows_moved"].(float64) < 90) {
					t.Fatalf("%v", m)
				}
				time.Sleep(time.Second)
			}
			if m := must(t, r, "Scan", `{"TableName":"`+name+`"}`); m["Count"] != 300.0 {
				t.Errorf("%v items of table %s", m["Count"], name)
			}
		}
		if took := time.Since(begin); took > 15*time.Minute || took < 10*time.Minute {
			t.Errorf("both took %v", took)
		}
		cancel()
		<-ended
	})
}

// TestAValueThatIsTheNameOfAMark checks that a text in an item, or a name within it, is not taken for
// the mark of a stub.
func TestAValueThatIsTheNameOfAMark(t *testing.T) {
	r, _ := startHasty(t)
	must(t, r, "CreateTable", shardedTable)
	const n = 30
	for i := range n {
		must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%02d"},"x":{"S":"evenkeel.moved"},"y":{"M":{"evenkeel.moved":{"N":"1"}}}}}`, i))
	}
	must(t, r, "TagResource", changeTo(9))
	for stepOf(r) != "" {
		m := must(t, r, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`)
		if m["Count"] != float64(n) {
			t.Errorf("%s: %v items of %d", stepOf(r), m["Count"], n)
		}
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStreamsOfTablesThatChange checks which streams let a change begin, and that a late write at the
// place of a stub is not in the stream.
func TestStreamsOfTablesThatChange(t *testing.T) {
	for view, ok := range map[string]bool{"KEYS_ONLY": false, "NEW_IMAGE": false, "OLD_IMAGE": false, "NEW_AND_OLD_IMAGES": true} {
		r, store := startHasty(t)
		must(t, r, "CreateTable", strings.Replace(shardedTable, `"Tags"`, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"`+view+`"},"Tags"`, 1))
		if !ok {
			fails(t, r, exception.Validation, view, "Reshard", `{"TableName":"Tab","Action":"start","Shards":9}`)
			continue
		}
		const n = 20
		for i := range n {
			must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%02d"}}}`, i))
		}
		must(t, r, "Reshard", `{"TableName":"Tab","Action":"start","Shards":9}`)
		late := 0
		for stepOf(r) != "" {
			if stepOf(r) == "settled" {
				for _, item := range store.stubs(t) { // a door that was stopped wakes up
					must(t, store, "PutItem", `{"TableName":"Tab","Item":`+item+`}`)
					late++
				}
			}
			if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
				t.Fatal(err)
			}
		}
		_, _, records := readStream(t, r, "Tab")
		if strings.Count(records, `"eventName"`) != n || strings.Count(records, `"INSERT"`) != n || late == 0 {
			t.Errorf("%d late writes; the stream tells %s", late, records)
		}
	}
}

// stubs returns the stubs of table Tab as items, as a late write makes them.
func (s *recorder) stubs(t *testing.T) (items []string) {
	t.Helper()
	for _, x := range must(t, s, "Scan", `{"TableName":"Tab"}`)["Items"].([]any) {
		if item := x.(map[string]any); item["evenkeel.moved"] != nil {
			delete(item, "evenkeel.moved")
			items = append(items, jsonOf(t, item))
		}
	}
	return items
}
