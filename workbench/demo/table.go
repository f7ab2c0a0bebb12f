// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/shard"
)

// These are numbers of transactions that all tables have, however many writes are throttled. The
// query looks for them.
const (
	ofClient1  = 20
	ofClient10 = 10
)

// tick is how often the clock is compared with the wall clock. shown is how often the page and the
// map are renewed.
const (
	tick  = 5 * time.Millisecond
	shown = 250 * time.Millisecond
)

// table creates a table, offers it the writes, and runs the query.
func (d *Demo) table(ctx context.Context, s *store, i int) error {
	t := d.Snapshot().Tables[i]
	t.State = Writing
	d.change(func(r *Result) { r.Tables[i].State = Writing })
	if err := s.do(ctx, "CreateTable", createTable(&t)); err != nil {
		return fmt.Errorf("create table %s: %w", t.Name, err)
	}
	if err := d.known(ctx, s, t.Name); err != nil {
		return err
	}
	w := &writer{d: d, s: s, at: i, t: &t, shards: make([]int, t.Shards+1)}
	offered := w.offer(ctx)
	w.publish()
	d.wall, d.passed = d.wall+time.Since(w.wall), d.passed+d.clock.now().Sub(w.begun)
	if offered != nil {
		if ctx.Err() == nil {
			return offered
		}
		// What was counted still needs its explanation.
		_ = w.partitions(context.WithoutCancel(ctx))
		w.explain()
		d.change(func(r *Result) { r.Tables[i] = *w.t })
		return offered
	}
	if err := w.partitions(ctx); err != nil {
		return err
	}
	// After this time, the partitions' read units have come back.
	d.clock.pass(5 * time.Second)
	q, err := s.query(ctx, t.Name)
	if err != nil {
		return err
	}
	w.t.Query = q
	w.explain()
	w.t.State = Over
	d.change(func(r *Result) {
		r.Tables[i] = *w.t
		r.compare()
	})
	return s.do(ctx, "DeleteTable", fmt.Appendf(nil, `{"TableName":%q}`, t.Name))
}

func createTable(t *Table) []byte {
	more := ""
	if t.Shards > 1 {
		more = fmt.Sprintf(`,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=%d"}]`, t.Shards)
	}
	if t.WarmWrites > 0 {
		more += fmt.Sprintf(`,"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":%d}`, t.WarmWrites)
	}
	return fmt.Appendf(nil, `{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"InvoiceNumber","AttributeType":"S"},{"AttributeName":"ClientTransactionid","AttributeType":"S"}],`+
		`"KeySchema":[{"AttributeName":"InvoiceNumber","KeyType":"HASH"},{"AttributeName":"ClientTransactionid","KeyType":"RANGE"}]%s}`, t.Name, more)
}

// item appends an item of itemBytes bytes: names, values, and a filler.
func item(dst []byte, table, id string) []byte {
	fill := itemBytes - len("InvoiceNumber"+invoice+"ClientTransactionid"+"note") - len(id)
	dst = append(append(dst, `{"TableName":"`...), table...)
	dst = append(append(dst, `","Item":{"InvoiceNumber":{"S":"`+invoice+`"},"ClientTransactionid":{"S":"`...), id...)
	dst = append(append(dst, `"},"note":{"S":"`...), filling[:fill]...)
	return append(dst, `"}}}`...)
}

var filling = strings.Repeat("a line of the invoice; ", 1+itemBytes/23)

// known writes the items that the query will look for.
func (d *Demo) known(ctx context.Context, s *store, table string) error {
	for n := range ofClient1 + ofClient10 {
		id := fmt.Sprintf("Client1-%08d", n)
		if n >= ofClient1 {
			id = fmt.Sprintf("Client10-%08d", n)
		}
		if err := s.do(ctx, "PutItem", item(nil, table, id)); err != nil {
			return fmt.Errorf("put %s: %w", id, err)
		}
	}
	return nil
}

// writer offers a table its writes.
type writer struct {
	d  *Demo
	s  *store
	at int
	t  *Table

	shards []int // writes offered, by shard; index 0: without shards
	took   []float32
	id     []byte
	begun  time.Time // on the demo's clock
	wall   time.Time
}

// offer offers the writes, evenly in time.
func (w *writer) offer(ctx context.Context) error {
	d, t := w.d, w.t
	layout := shard.Layout{N: t.Shards}
	w.begun, w.wall = d.clock.now(), time.Now()
	d.pace = pace{speed: math.Max(0, d.o.Speed), begun: w.wall, from: w.begun}
	t.Reasons = make(map[string]int)
	rate := d.o.Rate
	first := 2 * rate * draining // writes at twice the rate
	perTick := max(1, int(float64(rate)*tick.Seconds()))
	next := w.wall.Add(shown)
	for i := range first + rate*(settling+d.o.Seconds) {
		if i%perTick == 0 {
			if d.halt != nil {
				d.halt()
			}
			if err := d.pace.wait(ctx, d.clock.now()); err != nil {
				return err
			}
			if now := time.Now(); now.After(next) {
				if err := w.partitions(ctx); err != nil {
					return err
				}
				w.publish()
				next = now.Add(shown)
			}
		}
		second := i / (2 * rate)
		if i >= first {
			second = draining + (i-first)/rate
		}
		if second == len(t.Course) {
			t.Course = append(t.Course, Second{})
		}
		w.id = append(w.id[:0], "Client"...)
		w.id = strconv.AppendInt(w.id, int64(2+i%8), 10)
		w.id = fmt.Appendf(w.id, "-%08d", i)
		of := 0
		if t.Shards > 1 {
			of = layout.ShardOf(nil, w.id)
		}
		w.s.body = item(w.s.body[:0], t.Name, string(w.id))
		began := time.Now()
		err := w.s.do(ctx, "PutItem", w.s.body)
		spent := time.Since(began)
		t.Course[second].Offered++
		counts := second >= warmUp
		if counts {
			t.Offered++
			w.shards[of]++
		}
		switch e := exception.Of(err); {
		case err == nil:
			t.Course[second].Accepted++
			if counts {
				t.Accepted++
				w.took = append(w.took, float32(spent.Seconds()*1000))
			}
		case len(e.Throttling) == 0:
			return fmt.Errorf("put %s: %w", w.id, err)
		case counts:
			t.Throttled++
			t.Reasons[e.Throttling[0].Reason]++
		}
		due := float64(i+1) / float64(2*rate)
		if i >= first {
			due = draining + float64(i+1-first)/float64(rate)
		}
		d.clock.set(w.begun.Add(time.Duration(due * float64(time.Second))))
	}
	return nil
}

// publish updates the result with the progress.
func (w *writer) publish() {
	t := w.t
	if n := len(t.Course) - 1; n > 0 && t.Offered > 0 {
		t.PerSecond = float64(t.Accepted) / (float64(t.Offered) / float64(w.d.o.Rate))
	}
	if n := len(w.took); n > 0 {
		sorted := slices.Sorted(slices.Values(w.took))
		t.P50, t.P99 = float64(sorted[n/2]), float64(sorted[n*99/100])
	}
	speed := (w.d.passed + w.d.clock.now().Sub(w.begun)).Seconds() / math.Max(1e-9, (w.d.wall+time.Since(w.wall)).Seconds())
	w.d.change(func(r *Result) {
		shown := *t
		shown.Course, shown.Map = slices.Clone(t.Course), slices.Clone(t.Map)
		shown.Reasons = make(map[string]int, len(t.Reasons))
		for k, v := range t.Reasons {
			shown.Reasons[k] = v
		}
		r.Tables[w.at] = shown
		r.Speed = speed
	})
}

// partitions asks for the table's partitions, and their keys.
func (w *writer) partitions(ctx context.Context) error {
	t := w.t
	if err := w.s.do(ctx, "DescribePartitions", fmt.Appendf(nil, `{"TableName":%q}`, t.Name)); err != nil {
		return fmt.Errorf("partitions of %s: %w", t.Name, err)
	}
	var answer api.PartitionsResponse
	if err := json.Unmarshal(w.s.answer, &answer); err != nil {
		return fmt.Errorf("partitions of %s: %w", t.Name, err)
	}
	t.Partitions, t.Occupied, t.Expected = len(answer.Partitions), 0, 0
	t.Map = t.Map[:0:0]
	seconds := math.Max(1e-9, float64(t.Offered)/float64(w.d.o.Rate))
	for _, p := range answer.Partitions {
		if len(p.Keys) == 0 {
			continue
		}
		one := Together{Partition: p.Number, Units: p.Write.Units, Shards: []int{}, Keys: []string{}}
		for _, k := range p.Keys {
			name := invoice
			if k.Shard > 0 {
				name = fmt.Sprintf("%s-%d", invoice, k.Shard)
			}
			if slices.Contains(one.Keys, name) {
				continue
			}
			one.Shards, one.Keys = append(one.Shards, k.Shard), append(one.Keys, name)
			if k.Shard < len(w.shards) {
				one.Offered += float64(w.shards[k.Shard]) / seconds
			}
		}
		slices.Sort(one.Shards)
		slices.Sort(one.Keys)
		t.Map = append(t.Map, one)
		t.Occupied++
		t.Expected += math.Min(answer.PartitionWriteUnits, one.Offered)
	}
	n := float64(t.Partitions)
	t.Chance = n * -math.Expm1(float64(t.Shards)*math.Log1p(-1/n))
	if t.Partitions == 1 {
		t.Chance = 1
	}
	return nil
}

// query asks for the transactions of Client1, as the example does, and again with a separator.
func (s *store) query(ctx context.Context, table string) (*Query, error) {
	q := &Query{Expression: `InvoiceNumber = "121212" AND begins_with(ClientTransactionid, "Client1")`, Items: []string{}}
	for _, prefix := range []string{"Client1", "Client1-"} {
		start := ""
		for {
			body := fmt.Appendf(nil, `{"TableName":%q,"KeyConditionExpression":"InvoiceNumber = :i AND begins_with(ClientTransactionid, :c)",`+
				`"ExpressionAttributeValues":{":i":{"S":%q},":c":{"S":%q}},"ProjectionExpression":"ClientTransactionid","ReturnConsumedCapacity":"TOTAL"%s}`, table, invoice, prefix, start)
			if err := s.do(ctx, "Query", body); err != nil {
				return nil, fmt.Errorf("query %s: %w", table, err)
			}
			var answer struct {
				Items []struct {
					ID struct{ S string } `json:"ClientTransactionid"`
				}
				LastEvaluatedKey json.RawMessage
				ConsumedCapacity struct{ CapacityUnits float64 }
			}
			if err := json.Unmarshal(s.answer, &answer); err != nil {
				return nil, fmt.Errorf("query %s: %w", table, err)
			}
			for _, it := range answer.Items {
				if prefix == "Client1-" {
					q.Exact++
					continue
				}
				q.Items = append(q.Items, it.ID.S)
				if strings.HasPrefix(it.ID.S, "Client10") {
					q.Client10++
				} else {
					q.Client1++
				}
			}
			if prefix == "Client1" {
				q.Units += answer.ConsumedCapacity.CapacityUnits
			}
			if len(answer.LastEvaluatedKey) == 0 {
				break
			}
			start = `,"ExclusiveStartKey":` + string(answer.LastEvaluatedKey)
		}
	}
	return q, nil
}
