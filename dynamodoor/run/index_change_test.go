// SPDX-License-Identifier: Apache-2.0

package run

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

var (
	indexSeed  = flag.Uint64("indexes.seed", rand.Uint64(), "the seed of the histories of TestIndexesAcrossChanges")
	indexWorld = flag.Int("indexes.histories", 12, "the number of its histories of each kind")
)

// anIndex is an index of table Tab in a history. Its key is a partition key, and perhaps a sort key.
type anIndex struct {
	name, hash, sort string
	shards           int    // 0: it is not sharded
	shows            string // projection
}

func (x anIndex) declaration() string {
	key := `{"AttributeName":"` + x.hash + `","KeyType":"HASH"}`
	if x.sort != "" {
		key += `,{"AttributeName":"` + x.sort + `","KeyType":"RANGE"}`
	}
	projection := `"ProjectionType":"` + x.shows + `"`
	if x.shows == "INCLUDE" {
		projection += `,"NonKeyAttributes":["v"]`
	}
	return `{"IndexName":"` + x.name + `","KeySchema":[` + key + `],"Projection":{` + projection + `}}`
}

// entry returns what the index shows of an item, or nil if the item is not in it.
func (x anIndex) entry(item map[string]string) map[string]string {
	names := []string{"h", "r", x.hash, x.sort}
	for _, key := range names[2:] {
		if _, has := item[key]; key != "" && !has {
			return nil
		}
	}
	if x.shows == "ALL" {
		return item
	}
	if x.shows == "INCLUDE" {
		names = append(names, "v")
	}
	out := map[string]string{}
	for _, n := range names {
		if v, has := item[n]; has {
			out[n] = v
		}
	}
	return out
}

// aRead is a read of an index, page by page.
type aRead struct {
	of       anIndex
	value    string // of the index's partition key; "": a Scan
	backward bool
	start    string // of the next page
	shown    []map[string]string
	floors   int // the number of changes that had been settled and cleaned when it began
}

// histories of table Tab: items that stay as they are, and others that change.
type indexHistory struct {
	t       *testing.T
	r       *rand.Rand
	mover   *Router
	doors   doer
	indexes []anIndex
	items   map[string]map[string]string
	still   map[string]bool // items that nobody changes
	reads   []*aRead
	floors  int
	ended   int // reads that have ended
	between int // of them, those that began before a step of the change and ended after it
	steps   map[string]int
}

func typed(name, value string) string {
	if name == "y" {
		return `{"N":"` + value + `"}`
	}
	return `{"S":"` + value + `"}`
}

func itemText(item map[string]string, names ...string) string {
	var b []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if len(names) == 0 || slices.Contains(names, name) {
			b = append(b, strconv.Quote(name)+":"+typed(name, item[name]))
		}
	}
	return "{" + strings.Join(b, ",") + "}"
}

// drawKey draws an item's key: one character, and a sort key that tells a time.
func (h *indexHistory) drawKey(hash int) string {
	return fmt.Sprintf("%c2026-11-25T%02d:%02d:00Z", 'a'+hash, h.r.IntN(20), 12*h.r.IntN(5))
}

// layout draws a layout to change to.
func (h *indexHistory) layout() string {
	shards := h.r.IntN(7)
	local := slices.ContainsFunc(h.indexes, func(x anIndex) bool { return x.name == "local" })
	switch {
	case h.r.IntN(4) == 0:
		return `"Layout":"strategy=rollover rows=10"`
	case !local && h.r.IntN(2) == 0:
		return fmt.Sprintf(`"Layout":"strategy=time bucket=%dh shards=%d"`, 1+h.r.IntN(4), 1+shards/3)
	case shards == 0:
		return `"Shards":0`
	}
	return fmt.Sprintf(`"Layout":"strategy=calculated shards=%d"`, shards)
}

// draw returns an item's attributes beside its key. Few values, so that entries have equal keys.
func (h *indexHistory) draw(key string) map[string]string {
	item := map[string]string{"h": key[:1], "r": key[1:]}
	for name, n := range map[string]int{"x": 2, "y": 3, "v": 1000} {
		if h.r.IntN(5) > 0 {
			item[name] = strconv.Itoa(h.r.IntN(n))
		}
	}
	return item
}

func (h *indexHistory) create() {
	shows := func() string { return []string{"ALL", "KEYS_ONLY", "INCLUDE"}[h.r.IntN(3)] }
	all := []anIndex{
		{"local", "h", "y", 0, shows()}, {"by-x", "x", "", 0, shows()}, {"by-x-y", "x", "y", 0, shows()}, {"inverted", "r", "h", 0, shows()}, {"by-r", "r", "", 0, shows()},
		{"spread", "x", "y", 3, shows()}, {"spread-x", "x", "", 2, shows()}, {"spread-h", "h", "x", 2, shows()},
	}
	h.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	h.indexes = all[:1+h.r.IntN(4)]
	var local, global []string
	defined := map[string]bool{"h": true, "r": true}
	layout := fmt.Sprintf("shards=%d", 1+h.r.IntN(5))
	if h.r.IntN(3) == 0 {
		layout = "strategy=rollover rows=10"
		h.steps["from rollover"]++
	}
	tags := `{"Key":"write-sharding","Value":"` + layout + `"}`
	for _, x := range h.indexes {
		if x.name == "local" {
			local = append(local, x.declaration())
		} else {
			global = append(global, x.declaration())
		}
		if x.shards > 0 {
			tags += fmt.Sprintf(`,{"Key":"write-sharding.index.%s","Value":"shards=%d"}`, x.name, x.shards)
		}
		for _, name := range []string{x.hash, x.sort} {
			if name != "" {
				defined[name] = true
			}
		}
	}
	var definitions []string
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		definitions = append(definitions, `{"AttributeName":"`+name+`","AttributeType":`+map[bool]string{true: `"N"`, false: `"S"`}[name == "y"]+`}`)
	}
	body := `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[` + strings.Join(definitions, ",") + `],` +
		`"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]`
	if local != nil {
		body += `,"LocalSecondaryIndexes":[` + strings.Join(local, ",") + `]`
	}
	if global != nil {
		body += `,"GlobalSecondaryIndexes":[` + strings.Join(global, ",") + `]`
	}
	must(h.t, h.mover, "CreateTable", body+`,"Tags":[`+tags+`]}`)
	for i := range 40 {
		key := h.drawKey(i % 2)
		if h.items[key] == nil {
			h.items[key], h.still[key] = h.draw(key), h.r.IntN(3) > 0
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.items)) {
		must(h.t, h.doors, "PutItem", `{"TableName":"Tab","Item":`+itemText(h.items[key])+`}`)
	}
}

// write changes an item that may change.
func (h *indexHistory) write() {
	key := h.drawKey(h.r.IntN(2))
	if h.still[key] {
		return
	}
	id := itemText(map[string]string{"h": key[:1], "r": key[1:]})
	switch was := h.items[key]; h.r.IntN(4) {
	case 0:
		must(h.t, h.doors, "DeleteItem", `{"TableName":"Tab","Key":`+id+`}`)
		delete(h.items, key)
	case 1:
		v := strconv.Itoa(h.r.IntN(1000))
		must(h.t, h.doors, "UpdateItem", `{"TableName":"Tab","Key":`+id+`,"UpdateExpression":"SET v = :v REMOVE x","ExpressionAttributeValues":{":v":{"S":"`+v+`"}}}`)
		now := map[string]string{"h": key[:1], "r": key[1:]}
		maps.Copy(now, was)
		now["v"] = v
		delete(now, "x")
		h.items[key] = now
	default:
		h.items[key] = h.draw(key)
		must(h.t, h.doors, "PutItem", `{"TableName":"Tab","Item":`+itemText(h.items[key])+`}`)
	}
}

// step brings the change on, or begins another one.
func (h *indexHistory) step() {
	before := stepOf(h.mover)
	h.steps[before]++
	if before == "" {
		if h.r.IntN(3) == 0 {
			_, err := do(h.mover, "Reshard", fmt.Sprintf(`{"TableName":"Tab","Action":"start","Shards":%d,"Key":"a"}`, 1+h.r.IntN(7)))
			h.allowed(err, "already", "the same for all keys", "ranges of the sort key")
			return
		}
		to := h.layout()
		_, err := do(h.mover, "Reshard", `{"TableName":"Tab","Action":"start",`+to+`}`)
		if h.allowed(err, "already"); err == nil && strings.Contains(to, "time") {
			h.steps["to buckets"]++
		} else if err == nil && strings.Contains(to, "rollover") {
			h.steps["to rollover"]++
		}
		return
	}
	if h.r.IntN(12) == 0 {
		_, err := do(h.mover, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
		h.allowed(err, "taken back")
		return
	}
	if _, err := h.mover.StepChange(h.t.Context(), "Tab"); err != nil {
		h.t.Fatal(err)
	}
	if before == "settled" && stepOf(h.mover) == "cleaning" {
		h.floors++
	}
}

func (h *indexHistory) allowed(err error, parts ...string) {
	if err != nil && !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(err.Error(), part) }) {
		h.t.Fatal(err)
	}
}

func (h *indexHistory) begin() {
	of := h.indexes[h.r.IntN(len(h.indexes))]
	n := &aRead{of: of, backward: h.r.IntN(2) == 0, floors: h.floors}
	if h.r.IntN(4) > 0 {
		var values []string
		for _, item := range h.items {
			if v, has := item[of.hash]; has {
				values = append(values, v)
			}
		}
		if slices.Sort(values); len(values) == 0 {
			return
		}
		n.value = values[h.r.IntN(len(values))]
	}
	h.reads = append(h.reads, n)
}

// page reads the next page of a read.
func (h *indexHistory) page(at int) {
	n := h.reads[at]
	limit := fmt.Sprintf(`,"Limit":%d`, 1+h.r.IntN(7))
	if h.r.IntN(6) == 0 {
		limit = ""
	}
	body := `{"TableName":"Tab","IndexName":"` + n.of.name + `"` + limit + n.start
	operation := "Scan"
	if n.value != "" {
		operation = "Query"
		body += `,"KeyConditionExpression":"#h = :h","ExpressionAttributeNames":{"#h":"` + n.of.hash + `"},"ExpressionAttributeValues":{":h":` + typed(n.of.hash, n.value) + `}`
		body += fmt.Sprintf(`,"ScanIndexForward":%v`, !n.backward)
	}
	m, err := do(h.doors, operation, body+"}")
	if err != nil {
		if n.floors == h.floors || n.start == "" || !exception.Is(err, exception.Validation) || !strings.Contains(err.Error(), "begin it anew") {
			h.t.Fatalf("%s: %s %s}: %v", stepOf(h.mover), operation, body, err)
		}
		n.start, n.shown, n.floors = "", nil, h.floors
		return
	}
	for _, shown := range m["Items"].([]any) {
		item := map[string]string{}
		for name, v := range shown.(map[string]any) {
			for _, text := range v.(map[string]any) {
				item[name] = text.(string)
			}
		}
		n.shown = append(n.shown, item)
	}
	last, more := m["LastEvaluatedKey"]
	if more {
		n.start = `,"ExclusiveStartKey":` + jsonOf(h.t, last)
		return
	}
	h.check(n)
	h.reads = slices.Delete(h.reads, at, at+1)
}

// check checks what a read has shown: each item that was there throughout once, in the index's
// order, and of the others at most what an index has.
func (h *indexHistory) check(n *aRead) {
	h.ended++
	if n.floors < h.floors {
		h.between++
	}
	times := map[string]int{}
	last := ""
	for _, item := range n.shown {
		key := item["h"] + item["r"]
		times[key]++
		if h.still[key] && !maps.Equal(item, n.of.entry(h.items[key])) {
			h.t.Fatalf("index %+v shows %v, not %v", n.of, item, n.of.entry(h.items[key]))
		}
		if n.value != "" && item[n.of.hash] != n.value {
			h.t.Fatalf("a Query of index %+v for %s shows %v", n.of, n.value, item)
		}
		if n.value != "" && n.of.sort != "" {
			if last != "" && (last > item[n.of.sort]) != n.backward && last != item[n.of.sort] {
				h.t.Fatalf("a Query of index %+v (backward %v) shows %s after %s", n.of, n.backward, item[n.of.sort], last)
			}
			last = item[n.of.sort]
		}
	}
	for key := range h.still {
		if !h.still[key] {
			continue
		}
		e := n.of.entry(h.items[key])
		want := 0
		if e != nil && (n.value == "" || e[n.of.hash] == n.value) {
			want = 1
		}
		if times[key] != want {
			h.t.Fatalf("in step %q, a read of index %+v for %q, backward %v, has shown %s %d times, not %d", stepOf(h.mover), n.of, n.value, n.backward, key, times[key], want)
		}
	}
}

func (h *indexHistory) run(actions int) {
	h.create()
	for range actions {
		switch n := h.r.IntN(10); {
		case n < 2:
			h.write()
		case n < 3:
			h.step()
		case n < 5 && len(h.reads) < 6, len(h.reads) == 0:
			h.begin()
		default:
			if len(h.reads) > 0 {
				h.page(h.r.IntN(len(h.reads)))
			}
		}
	}
	for len(h.reads) > 0 {
		h.page(0)
	}
}

// TestIndexesAcrossChanges reads indexes page by page. Between two pages, the table's layout may change by any
// number of steps. A read must show each item once that no client changes. It must show the items in the
// index's order.
func TestIndexesAcrossChanges(t *testing.T) {
	t.Logf("-args -indexes.seed=%d", *indexSeed)
	between, steps := 0, map[string]int{}
	worlds := *indexWorld
	if testing.Short() {
		worlds = min(worlds, 5)
	}
	for n := range worlds {
		h := &indexHistory{r: rand.New(rand.NewPCG(*indexSeed, uint64(n))), items: map[string]map[string]string{}, still: map[string]bool{}, steps: steps}
		one := func(t *testing.T) {
			if h.t = t; h.mover == nil {
				h.mover, _ = startHasty(t)
				h.doors = h.mover
			}
			h.run(400)
			between += h.between
		}
		t.Run(fmt.Sprint("one door, ", n), one)
		t.Run(fmt.Sprint("two doors, ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h = &indexHistory{r: rand.New(rand.NewPCG(*indexSeed, uint64(n+1000))), items: map[string]map[string]string{}, still: map[string]bool{}, steps: steps}
				_, store := startHasty(t)
				doors := new(turns)
				for range 2 {
					r := New(Options{Backend: store, Lease: 100 * time.Millisecond, Caution: time.Nanosecond})
					if err := r.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					doors.all = append(doors.all, r)
				}
				h.mover, h.doors = doors.all[0], doors
				one(t)
			})
		})
	}
	t.Logf("%d reads began before a change and ended after it; steps %v", between, steps)
	for _, step := range []string{"looking", "stubbing", "moving", "closing", "settled", "cleaning", "to buckets", "from rollover", "to rollover"} {
		if steps[step] == 0 && worlds == *indexWorld && !t.Failed() {
			t.Errorf("no history was in step %s", step)
		}
	}
}

// TestIndexesThatExpire checks that a change is refused if items expire by an attribute of an
// index's key, because stubs have it, and that it cannot be set so during a change.
func TestIndexesThatExpire(t *testing.T) {
	r, _ := startHasty(t)
	must(t, r, "CreateTable", strings.Replace(strings.Replace(indexedOnly, `"Tags":[`, `"Tags":[{"Key":"write-sharding","Value":"shards=2"},`, 1), `"AttributeType":"S"}],`, `"AttributeType":"N"}],`, 1))
	expire := func(on bool, by string) string {
		return fmt.Sprintf(`{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":%v,"AttributeName":"%s"}}`, on, by)
	}
	must(t, r, "UpdateTimeToLive", expire(true, "x"))
	fails(t, r, exception.Validation, "Time to Live", "Reshard", `{"TableName":"Tab","Action":"start","Shards":5}`)
	must(t, r, "UpdateTimeToLive", expire(false, "x"))
	must(t, r, "Reshard", `{"TableName":"Tab","Action":"start","Shards":5}`)
	fails(t, r, exception.Validation, "Time to Live", "UpdateTimeToLive", expire(true, "x"))
	must(t, r, "UpdateTimeToLive", expire(true, "y"))
	fails(t, r, exception.ResourceInUse, "another layout", "TagResource", `{`+arnOfTab+`,"Tags":[{"Key":"write-sharding.index.next","Value":"shards=4"}]}`)
}

// TestAPositionFromBeforeAChange checks that a read of an index does not go on after a change from a
// position of before it, whose place in the index is not known any more.
func TestAPositionFromBeforeAChange(t *testing.T) {
	r, _ := startHasty(t)
	must(t, r, "CreateTable", strings.Replace(indexedOnly, `"Tags":[`, `"Tags":[{"Key":"write-sharding","Value":"shards=2"},`, 1))
	for i := range 20 {
		must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%d"},"x":{"S":"x"}}}`, i))
	}
	page := `{"TableName":"Tab","IndexName":"idx","Limit":7,"KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"x"}}%s}`
	last := jsonOf(t, must(t, r, "Query", fmt.Sprintf(page, ""))["LastEvaluatedKey"])
	if strings.Contains(last, "evenkeel.") {
		t.Errorf("before any change a position is %s", last)
	}
	must(t, r, "Reshard", `{"TableName":"Tab","Action":"start","Shards":7}`)
	for stepOf(r) != "" {
		if stepOf(r) != "cleaning" {
			must(t, r, "Query", fmt.Sprintf(page, `,"ExclusiveStartKey":`+last))
		}
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
	fails(t, r, exception.Validation, "begin it anew", "Query", fmt.Sprintf(page, `,"ExclusiveStartKey":`+last))
	fails(t, r, exception.Validation, "starting key", "Query", fmt.Sprintf(page, `,"ExclusiveStartKey":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"x"},"evenkeel.began":{"S":"1"},"evenkeel.pk":{"S":"a-1"}}`))
	fails(t, r, exception.Validation, "starting key", "Query", fmt.Sprintf(page, `,"ExclusiveStartKey":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"x"},"evenkeel.began":{"N":"1"},"evenkeel.pk":{"S":"b-1"}}`))
}
