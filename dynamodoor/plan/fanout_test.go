// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/scatter"
)

// store is an engine with tables, some of them sharded.
type store struct {
	*dynamodb.Store
	tables map[string]*plan.Table
	reads  int // rows that fan-outs have read
}

func newStore(t *testing.T) *store {
	t.Helper()
	return &store{Store: itemstore.Open(t, dynamodb.Options{}), tables: map[string]*plan.Table{}}
}

// create creates a table (pk S, sk of a type) with n shards; 0: a plain table.
func (s *store) create(t *testing.T, name string, sort attribute.Kind, n int) {
	t.Helper()
	d := &schema.Declaration{
		Name: name, Billing: schema.PayPerRequest,
		Definitions: []schema.Definition{{Name: "pk", Type: attribute.S}, {Name: "sk", Type: sort}},
		Key:         []schema.KeyElement{{Name: "pk", Type: "HASH"}, {Name: "sk", Type: "RANGE"}},
	}
	if n > 0 {
		d.Tags = []schema.Tag{{Key: plan.Tag, Value: fmt.Sprintf("shards=%d", n)}}
	}
	declared, err := plan.Sharded(d)
	if err != nil {
		t.Fatal(err)
	}
	if declared != nil {
		d = declared.Physical
	}
	err = s.Answer(context.Background(), &api.CreateTable{Declaration: *d}, func(r api.Response) error {
		if declared == nil {
			return nil
		}
		table, err := plan.Open(plan.Spec{Name: name, Physical: r.(*api.TableResponse).Table, Hash: declared.Hash, Layout: declared.Layout})
		s.tables[name] = table
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// do carries out a request, with its plan if it has one, and returns the answer.
func (s *store) do(op, body string) (string, error) {
	q, _ := api.New(op)
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		return "", err
	}
	p, err := plan.Make(q, func(name string) *plan.Table { return s.tables[name] })
	if err != nil {
		return "", err
	}
	var out string
	show := func(r api.Response) error {
		out = string(r.AppendJSON(nil))
		return nil
	}
	switch p := p.(type) {
	case nil:
		err = s.Answer(context.Background(), q, show)
	case *plan.Direct:
		err = s.Answer(context.Background(), p.Request, func(r api.Response) error {
			if r, err = p.Answer(r); err != nil {
				return err
			}
			return show(r)
		})
		err = visible(p, err)
	case *plan.Fanout:
		var r *plan.Result
		if r, err = s.fanout(p); err == nil {
			err = show(r.Answer())
		}
	}
	return out, err
}

func visible(p plan.Plan, err error) error {
	if err == nil {
		return nil
	}
	return p.Err(err)
}

// fanout reads a page as a door does, with one request at a time.
func (s *store) fanout(f *plan.Fanout) (*plan.Result, error) {
	result := f.Result()
	var d attribute.Decoder
	start := f.Start
	for {
		n, bytes := result.Scanned()
		r := scatter.NewReader(scatter.Options[plan.Row]{Shards: f.Shards, Page: f.Page(n, bytes), Compare: f.Compare})
		for !r.Done() {
			fetch, ok := r.Next()
			if !ok {
				return nil, errors.New("the reader wants nothing and is not done")
			}
			after := fetch.After
			if after == nil {
				after = start
			}
			rows, err := s.fetch(f, &d, result, fetch, after)
			if err != nil {
				return nil, err
			}
			if err := r.Feed(fetch, [][]plan.Row{rows}); err != nil {
				return nil, err
			}
		}
		rows, more := r.Page()
		full, err := result.Add(rows)
		if err != nil {
			return nil, err
		}
		if full || !more {
			return result, nil
		}
		start = result.Last()
	}
}

func (s *store) fetch(f *plan.Fanout, d *attribute.Decoder, result *plan.Result, fetch scatter.Fetch[plan.Row], after *plan.Row) (rows []plan.Row, err error) {
	for q := f.Fetch(fetch.Shards[0], after, fetch.Upto, fetch.Limit); q != nil; {
		var rest *api.Query
		err := s.Answer(context.Background(), q, func(r api.Response) error {
			out := r.(*api.ItemsResponse)
			s.reads += out.ScannedCount
			result.Consumed(out.Capacity)
			var more []plan.Row
			var err error
			more, rest, err = f.Rows(d, fetch.Shards[0], q, out, after, fetch.Upto)
			rows = append(rows, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
		q = rest
	}
	return rows, nil
}

// TestQueriesAnswerAsUnsharded checks that a sharded table gives the same answer as a plain one,
// whatever the query is.
func TestQueriesAnswerAsUnsharded(t *testing.T) {
	for _, sort := range []attribute.Kind{attribute.S, attribute.N, attribute.B} {
		t.Run(sort.String(), func(t *testing.T) {
			s := newStore(t)
			names := []string{"plain"}
			s.create(t, "plain", sort, 0)
			for _, n := range []int{1, 3, 16} {
				name := fmt.Sprintf("shards%d", n)
				s.create(t, name, sort, n)
				names = append(names, name)
			}
			s.fill(t, names, sort, 12_000)
			rapid.Check(t, func(t *rapid.T) {
				body := drawQuery(t, sort)
				start := ""
				for page := 0; page < 10; page++ {
					var want string
					var wantErr error
					for i, name := range names {
						got, err := s.do("Query", fmt.Sprintf(`{"TableName":"%s",%s%s}`, name, body, start))
						got = strings.ReplaceAll(got, `"TableName":"`+name+`"`, `"TableName":"plain"`)
						if i == 0 {
							want, wantErr = got, err
							continue
						}
						if got != want || message(err) != message(wantErr) {
							t.Fatalf("%s {%s%s}:\n got %.1000s %v\nwant %.1000s %v", name, body, start, got, err, want, wantErr)
						}
					}
					_, last, more := strings.Cut(want, `"LastEvaluatedKey":`)
					if !more {
						return
					}
					start = `,"ExclusiveStartKey":` + strings.TrimSuffix(last, "}")
				}
			})
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return exception.Of(err).Error()
}

// fill puts 300 items of one partition key into the tables, and a few of another. A tenth of the
// items are large, or up to 2.5 times as large.
func (s *store) fill(t *testing.T, names []string, sort attribute.Kind, large int) {
	t.Helper()
	for i := range 300 {
		size := i % 50
		if i%10 == 3 {
			size = large + i*large/200
		}
		for _, name := range names {
			for _, pk := range []string{"a", "b"}[:1+(i%100)/99] {
				body := fmt.Sprintf(`{"TableName":"%s","Item":{"pk":{"S":"%s"},"sk":%s,"n":{"N":"%d"},"parity":{"S":"%d"},"data":{"S":"%s"}}}`,
					name, pk, sortKey(sort, i), i, i%2, strings.Repeat("x", size))
				if _, err := s.do("PutItem", body); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// sortKey returns one of many sort keys, which are not in the order of i. Some are prefixes of
// others.
func sortKey(kind attribute.Kind, i int) string {
	switch kind {
	case attribute.N:
		return fmt.Sprintf(`{"N":"%d.%d"}`, i*7%101-50, i)
	case attribute.B:
		return attribute.Binary(strings.Repeat(string([]byte{byte(i*31%7) * 42}), 1+i%3) + strings.Repeat("\xff", i%29/27*20) + string([]byte{byte(i >> 1), byte(i)})).String()
	}
	last := ""
	if i%29 == 5 {
		last = strings.Repeat("\U0010ffff", 3) // the last of the keys with the same prefix
	}
	return fmt.Sprintf(`{"S":"Client%d_%s%d"}`, i%13, last, i)
}

func drawQuery(t *rapid.T, sort attribute.Kind) string {
	key := func() string { return sortKey(sort, rapid.IntRange(0, 320).Draw(t, "key")) }
	condition, values := "pk = :p", `":p":{"S":"`+rapid.SampledFrom([]string{"a", "a", "a", "b", "none"}).Draw(t, "pk")+`"}`
	switch op := rapid.SampledFrom([]string{"", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}).Draw(t, "op"); op {
	case "":
	case "BETWEEN":
		a, b := key(), key()
		condition, values = condition+" AND sk BETWEEN :a AND :b", values+`,":a":`+a+`,":b":`+b
	case "begins_with":
		prefix := map[attribute.Kind]string{
			attribute.S: `{"S":"Client` + rapid.SampledFrom([]string{"", "1", "12_", "9"}).Draw(t, "prefix") + `"}`,
			attribute.N: `{"N":"5"}`, attribute.B: `{"B":"` + rapid.SampledFrom([]string{"AAA=", "KioqAA==", "/Pw="}).Draw(t, "prefix") + `"}`,
		}[sort]
		condition, values = condition+" AND begins_with(sk, :a)", values+`,":a":`+prefix
	default:
		condition, values = condition+" AND sk "+op+" :a", values+`,":a":`+key()
	}
	body := fmt.Sprintf(`"KeyConditionExpression":"%s"`, condition)
	if rapid.Bool().Draw(t, "backward") {
		body += `,"ScanIndexForward":false`
	}
	if limit := rapid.SampledFrom([]int{0, 0, 7, 20, 100, 300}).Draw(t, "limit"); limit > 0 {
		body += fmt.Sprintf(`,"Limit":%d`, limit)
	}
	if rapid.Bool().Draw(t, "filter") {
		body += `,"FilterExpression":"parity = :q AND n < :n"`
		values += `,":q":{"S":"1"},":n":{"N":"200"}`
	}
	switch rapid.SampledFrom([]string{"", "count", "projection"}).Draw(t, "select") {
	case "count":
		body += `,"Select":"COUNT"`
	case "projection":
		body += `,"ProjectionExpression":"n, parity"`
	}
	return body + `,"ExpressionAttributeValues":{` + values + `}`
}

// TestPagesAreBounded checks that a page of P rows over N shards reads at most P rows plus one and
// a half times the median excess, the larger of 2N and √(P N) rows (package scatter), whatever the
// partition holds.
func TestPagesAreBounded(t *testing.T) {
	s := newStore(t)
	s.create(t, "t", attribute.S, 20)
	for i := range 3000 {
		if _, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"t","Item":{"pk":{"S":"a"},"sk":{"S":"%05d"}}}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []int{1, 10, 50, 100} {
		s.reads = 0
		got, err := s.do("Query", fmt.Sprintf(`{"TableName":"t","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Limit":%d}`, page))
		if err != nil || strings.Count(got, `"pk"`) != page+1 {
			t.Fatalf("%.300s %v", got, err)
		}
		if most := page + 3*max(2*20, int(math.Sqrt(float64(page)*20)))/2; s.reads > most {
			t.Errorf("a page of %d read %d rows, more than %d", page, s.reads, most)
		}
	}
}

// TestHistoriesAnswerAsUnsharded checks that operations on single items, batches and transactions
// give the same answers on a sharded table and a plain one, and leave the same content.
func TestHistoriesAnswerAsUnsharded(t *testing.T) {
	s := newStore(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		names := []string{fmt.Sprintf("plain-%d", run)}
		s.create(t, names[0], attribute.S, 0)
		for _, n := range []int{1, 3} {
			name := fmt.Sprintf("shards%d-%d", n, run)
			s.create(t, name, attribute.S, n)
			names = append(names, name)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "length") {
			op, body := drawWrite(rt)
			var want string
			for i, name := range names {
				got, err := s.do(op, strings.ReplaceAll(body, "TABLE", name))
				got = strings.ReplaceAll(got+message(err), name, "TABLE")
				if e := exception.Of(err); err != nil {
					for _, r := range e.Reasons {
						got += string(r.Item) + r.Message
					}
					got += string(e.Item)
				}
				if i == 0 {
					want = got
				} else if got != want {
					rt.Fatalf("%s %s of %s:\n got %s\nwant %s", op, body, name, got, want)
				}
			}
		}
		var want []string
		for i, name := range names {
			got, err := s.do("Scan", fmt.Sprintf(`{"TableName":"%s"}`, name))
			if err != nil {
				rt.Fatal(err)
			}
			items := strings.Split(got, `},{"`)
			for j := range items {
				items[j] = strings.Trim(strings.TrimPrefix(items[j], `{"Items":[{"`), `}]`)
			}
			last := items[len(items)-1]
			items[len(items)-1], _, _ = strings.Cut(last, `}],"Count"`)
			slices.Sort(items)
			if i == 0 {
				want = items
			} else if !slices.Equal(trimmed(items), trimmed(want)) {
				rt.Fatalf("%s holds %q, want %q", name, items, want)
			}
		}
	})
}

func trimmed(items []string) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = strings.Trim(it, "{}[]")
	}
	return out
}

func drawWrite(t *rapid.T) (op, body string) {
	key := func() string {
		return fmt.Sprintf(`{"pk":{"S":"%s"},"sk":{"S":"%d"}}`, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pk"), rapid.IntRange(0, 4).Draw(t, "sk"))
	}
	put := func() string {
		k := key()
		return k[:len(k)-1] + fmt.Sprintf(`,"n":{"N":"%d"}}`, rapid.IntRange(0, 3).Draw(t, "n"))
	}
	condition := rapid.SampledFrom([]string{"", `,"ConditionExpression":"attribute_not_exists(pk)"`, `,"ConditionExpression":"n < :n","ExpressionAttributeValues":{":n":{"N":"2"}}`}).Draw(t, "condition")
	returning := rapid.SampledFrom([]string{"", `,"ReturnValues":"ALL_OLD"`}).Draw(t, "return") + `,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`
	const update = `,"UpdateExpression":"SET m = if_not_exists(m, :z) ADD n :o","ExpressionAttributeValues":{":z":{"S":"z"},":o":{"N":"1"}}`
	switch rapid.IntRange(0, 7).Draw(t, "operation") {
	case 0:
		return "PutItem", `{"TableName":"TABLE","Item":` + put() + condition + returning + `}`
	case 1:
		return "DeleteItem", `{"TableName":"TABLE","Key":` + key() + condition + returning + `}`
	case 2:
		values := rapid.SampledFrom([]string{"NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"}).Draw(t, "values")
		return "UpdateItem", `{"TableName":"TABLE","Key":` + key() + update + `,"ReturnValues":"` + values + `"}`
	case 3:
		return "GetItem", `{"TableName":"TABLE","Key":` + key() + `}`
	case 4:
		return "BatchWriteItem", `{"RequestItems":{"TABLE":[{"PutRequest":{"Item":` + put() + `}},{"DeleteRequest":{"Key":` + key() + `}}]}}`
	case 5:
		return "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"TABLE","Item":` + put() + condition + `,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},{"Update":{"TableName":"TABLE","Key":` + key() + update + `}}]}`
	case 6:
		return "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"TABLE","Key":` + key() + `}},{"Get":{"TableName":"TABLE","Key":` + key() + `,"ProjectionExpression":"n"}}]}`
	}
	return "UpdateItem", `{"TableName":"TABLE","Key":` + key() + `,"AttributeUpdates":{"x":{"Value":{"S":"y"}}},"ReturnValues":"ALL_NEW"}`
}

// TestFetchesKeepTheirBounds checks that a fetch returns the first rows of its shard that are after
// one row, not after another, and in the range of the query, whatever else the store returns.
func TestFetchesKeepTheirBounds(t *testing.T) {
	for _, sort := range []attribute.Kind{attribute.S, attribute.N, attribute.B} {
		t.Run(sort.String(), func(t *testing.T) {
			s := newStore(t)
			s.create(t, "t", sort, 3)
			s.fill(t, []string{"t"}, sort, 90_000)
			rapid.Check(t, func(t *rapid.T) {
				q := new(api.Query)
				body := `{"TableName":"t",` + drawQuery(t, sort) + `}`
				if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
					if exception.Of(err).Kind == exception.Validation {
						return
					}
					t.Fatal(err)
				}
				p, err := plan.Make(q, func(name string) *plan.Table { return s.tables[name] })
				f, ok := p.(*plan.Fanout)
				if err != nil || !ok {
					return
				}
				var d attribute.Decoder
				all, err := s.fetch(f, &d, f.Result(), scatter.Fetch[plan.Row]{Shards: []int{2}, Limit: 1000}, nil)
				if err != nil || len(all) == 0 {
					return
				}
				// Bounds are rows of the query's range, from this shard or another.
				every := slices.Clone(all)
				for _, other := range []int{1, 3} {
					more, err := s.fetch(f, &d, f.Result(), scatter.Fetch[plan.Row]{Shards: []int{other}, Limit: 1000}, nil)
					if err != nil {
						t.Fatal(err)
					}
					every = append(every, more...)
				}
				slices.SortFunc(every, func(a, b plan.Row) int { return f.Compare(&a, &b) })
				bound := func(name string) *plan.Row {
					if i := rapid.IntRange(-2, len(every)-1).Draw(t, name); i >= 0 {
						return &every[i]
					}
					return nil
				}
				after, upto := bound("after"), bound("upto")
				if after != nil && upto != nil && f.Compare(after, upto) >= 0 {
					after = nil
				}
				limit := rapid.IntRange(1, 100).Draw(t, "limit of rows")
				var want []string
				for i := range all {
					if (after == nil || f.Compare(&all[i], after) > 0) && (upto == nil || f.Compare(&all[i], upto) <= 0) && len(want) < limit {
						want = append(want, all[i].Sort.String())
					}
				}
				rows, err := s.fetch(f, &d, f.Result(), scatter.Fetch[plan.Row]{Shards: []int{2}, Limit: limit, Upto: upto}, after)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i := range rows {
					got = append(got, rows[i].Sort.String())
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s after %v up to %v, %d:\n got %v\nwant %v", body, after, upto, limit, got, want)
				}
			})
		})
	}
}
