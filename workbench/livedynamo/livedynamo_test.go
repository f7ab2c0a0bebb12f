// SPDX-License-Identifier: Apache-2.0

package livedynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want livedynamo.Address
	}{
		{"dynamodb://127.0.0.1:8000/Invoices", livedynamo.Address{Endpoint: "http://127.0.0.1:8000", Table: "Invoices"}},
		{"dynamodb://[::1]:8000/a.b-c_9", livedynamo.Address{Endpoint: "http://[::1]:8000", Table: "a.b-c_9"}},
		{"dynamodb+https://db.example.com/Invoices", livedynamo.Address{Endpoint: "https://db.example.com:443", Table: "Invoices"}},
		{"dynamodb+https://db.example.com:8443/Invoices", livedynamo.Address{Endpoint: "https://db.example.com:8443", Table: "Invoices"}},
		{"dynamodb://eu-west-1/Invoices", livedynamo.Address{Region: "eu-west-1", Table: "Invoices"}},
		{"dynamodb://us-gov-west-1/Invoices", livedynamo.Address{Region: "us-gov-west-1", Table: "Invoices"}},
		{"dynamodb://us-east-1:8000/Invoices", livedynamo.Address{Endpoint: "http://us-east-1:8000", Table: "Invoices"}},
	} {
		got, err := livedynamo.Parse(c.text)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.text, err, diff)
		}
	}
	for _, c := range []struct{ text, want, hint string }{
		{"cql://h/k.t", "is not the address of a DynamoDB table", "dynamodb://host:port/table"},
		{"dynamodb://us-east-1", "names no table", "dynamodb://host:port/table"},
		{"dynamodb://us-east-1/", "names no table", "dynamodb://host:port/table"},
		{"dynamodb://us-east-1/ab", "is no name of a DynamoDB table", "3 to 255"},
		{"dynamodb://us-east-1/a/b/c", "is no name of a DynamoDB table", "3 to 255"},
		{"dynamodb://localhost/Invoices", "is no region of AWS, and has no port", "dynamodb://localhost:8000/Invoices"},
		{"dynamodb://us-est1/Invoices", "is no region of AWS", "us-east-1"},
		{"dynamodb://localhost:0/Invoices", "has no port", ""},
		{"dynamodb+https:///Invoices", "is no host", ""},
		{"dynamodb://AKIA:hush@us-east-1/Invoices", "has a user in it", "AWS_PROFILE"},
	} {
		_, err := livedynamo.Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(livetable.Hint(err), c.hint) || livetable.Hint(err) == "" || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v (hint %q), want %s", c.text, err, livetable.Hint(err), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"dynamodb://127.0.0.1:8000/Invoices", "dynamodb+https://h/abc", "dynamodb://eu-west-1/Invoices", "dynamodb+https://[::1]:1/a%62c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := livedynamo.Parse(text)
		if err != nil {
			return
		}
		again, err := livedynamo.Parse(a.String())
		if diff := cmp.Diff(a, again); err != nil || diff != "" {
			t.Fatalf("%q is written %q: %v %s", text, a, err, diff)
		}
	})
}

func open(t *testing.T, url, table string, o livedynamo.Options) *livedynamo.Table {
	t.Helper()
	at, err := livedynamo.Parse("dynamodb://" + strings.TrimPrefix(url, "http://") + "/" + table)
	if err != nil {
		t.Fatal(err)
	}
	tb, err := livedynamo.Open(t.Context(), at, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tb.Close)
	return tb
}

func thousand() (list []item) {
	for i := range 1000 {
		it := item{"InvoiceNumber": s(fmt.Sprintf("inv-%d", i%40)), "Transaction": s(fmt.Sprintf("Client%d", i)), "amount": n(fmt.Sprintf("%d.50", i)), "text": s(`with "quotes" and é`)}
		if i%4 > 0 {
			it["country"] = s("USA")
		}
		if i == 7 {
			it["bytes"] = &types.AttributeValueMemberB{Value: []byte{0, 255}}
			it["list"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{n("1"), s("x"), &types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberNULL{Value: true}}}
			it["set"] = &types.AttributeValueMemberNS{Value: []string{"1", "2"}}
			it["map"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": &types.AttributeValueMemberSS{Value: []string{"a"}}}}
			it["sets"] = &types.AttributeValueMemberBS{Value: [][]byte{{1}}}
		}
		list = append(list, it)
	}
	return list
}

// TestScan checks that every item comes once, whatever the number of segments. Item collections
// come whole in a segment, one after the other.
func TestScan(t *testing.T) {
	for name, url := range stores(t) {
		t.Run(name, func(t *testing.T) {
			invoices(t, url, "Invoices", nil, thousand())
			tb := open(t, url, "Invoices", livedynamo.Options{})
			d := tb.Table()
			if d.Partition != (livedynamo.Key{Name: "InvoiceNumber", Kind: "S"}) || d.Sort == nil || d.Sort.Name != "Transaction" || !d.OnDemand || d.Layout != nil || d.ID == "" || len(d.Indexes) != 1 || d.Indexes[0].Projection != "KEYS_ONLY" {
				t.Errorf("%+v", d)
			}
			for _, of := range []int{1, 3, 16} {
				seen := map[string]bool{}
				in := map[string]int{}
				units := 0.0
				for _, seg := range livedynamo.Segments(of, 1, 1) {
					last := ""
					u, err := tb.Scan(t.Context(), seg, 100, func(it attribute.Item) error {
						hash, _ := it.Get("InvoiceNumber")
						sort, _ := it.Get("Transaction")
						if h := strings.Clone(hash.Text()); h != last {
							if _, before := in[h]; before {
								t.Fatalf("of %d: %s comes in pieces", of, h)
							}
							in[h], last = seg.Number, h
						}
						if seen[sort.Text()] {
							t.Fatalf("of %d: %s twice", of, sort.Text())
						}
						seen[strings.Clone(sort.Text())] = true
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					units += u
				}
				if len(seen) != 1000 || len(in) != 40 || units < 5 {
					t.Errorf("of %d: %d items of %d, %v units", of, len(seen), len(in), units)
				}
			}
		})
	}
}

// TestRows checks that as rows, a table has its values, including the columns that only some items
// have.
func TestRows(t *testing.T) {
	for name, url := range stores(t) {
		t.Run(name, func(t *testing.T) {
			invoices(t, url, "Invoices", nil, thousand())
			in, done, err := open(t, url, "Invoices", livedynamo.Options{}).Rows(t.Context(), livedynamo.RowsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			for range 2 { // the second time from the stored rows
				p, err := profile.Of(t.Context(), in, profile.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if p.Rows != 1000 || p.Partial || !strings.HasPrefix(p.Data, "dynamodb://") {
					t.Errorf("%+v", p)
				}
				for column, want := range map[string]struct {
					distinct float64
					values   int64
					kind     value.Kind
				}{"InvoiceNumber": {40, 1000, value.Text}, "Transaction": {1000, 1000, value.Text}, "amount": {1000, 1000, value.Decimal}, "country": {1, 750, value.Text}, "bytes": {1, 1, value.Text}} {
					c := p.Column(column)
					if c == nil || c.Distinct.Value != want.distinct || c.Values != want.values || column != "amount" && c.Type.Kind != want.kind {
						t.Errorf("%s: %+v", column, c)
					}
				}
				if c := p.Column("map"); c == nil || !c.Nested {
					t.Errorf("map: %+v", c)
				}
			}
			if url := url; name == "engine" { // a sample has whole item collections
				part, done, err := open(t, url, "Invoices", livedynamo.Options{}).Rows(t.Context(), livedynamo.RowsOptions{Fraction: 0.4, Seed: 3})
				if err != nil {
					t.Fatal(err)
				}
				defer done()
				p, err := profile.Of(t.Context(), part, profile.Options{})
				if err != nil || p.Rows%25 != 0 || p.Rows < 100 || p.Rows > 800 {
					t.Errorf("%v, %d rows", err, p.Rows)
				}
			}
		})
	}
}

// TestAppendJSON checks that items are written as objects that can be read.
func TestAppendJSON(t *testing.T) {
	number, _ := attribute.Number("-1.50")
	huge, _ := attribute.Number("1e125")
	it := attribute.NewItem(
		attribute.Attribute{Name: `a"b`, Value: attribute.String("x\n\u2028é")}, attribute.Attribute{Name: "n", Value: number}, attribute.Attribute{Name: "h", Value: huge},
		attribute.Attribute{Name: "b", Value: attribute.Binary("\x00\xff")}, attribute.Attribute{Name: "t", Value: attribute.Bool(true)}, attribute.Attribute{Name: "z", Value: attribute.Null()},
		attribute.Attribute{Name: "l", Value: attribute.List([]attribute.Value{number, attribute.Map(attribute.NewItem(attribute.Attribute{Name: "k", Value: attribute.String("v")}))})},
	)
	text := livedynamo.AppendJSON(nil, it)
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	want := map[string]any{`a"b`: "x\n\u2028é", "n": -1.5, "h": 1e125, "b": "AP8=", "t": true, "z": nil, "l": []any{-1.5, map[string]any{"k": "v"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSegments checks that segments of a sample are that part of the table, all over it, and none
// comes twice.
func TestSegments(t *testing.T) {
	for _, c := range []struct {
		pieces   int
		fraction float64
		of, n    int
	}{{4, 1, 4, 4}, {64, 0.01, 6400, 64}, {64, 0.5, 128, 64}, {64, 1e-9, 1_000_000, 1}, {1, 0, 1, 1}} {
		list := livedynamo.Segments(c.pieces, c.fraction, 7)
		if len(list) != c.n || list[0].Of != c.of || !slices.IsSortedFunc(list, func(a, b livedynamo.Segment) int { return a.Number - b.Number }) || len(slices.Compact(slices.Clone(list))) != c.n {
			t.Errorf("%+v: %d of %d", c, len(list), list[0].Of)
		}
	}
}

// TestShard checks that the shard of an item is the door's: the Scan of the physical table shows
// it.
func TestShard(t *testing.T) {
	url := door(t)
	invoices(t, url, "Sharded", map[string]string{"write-sharding": "strategy=calculated shards=5", "write-sharding.index.by-country": "shards=3"}, thousand())
	tb := open(t, url, "Sharded", livedynamo.Options{})
	d := tb.Table()
	if d.Layout == nil || d.Layout.N != 5 || d.Sharding == "" || d.ShardedIndexes["by-country"] == "" {
		t.Fatalf("%+v", d)
	}
	piecewise(t, tb, 150, 200)
}

// TestShardOfAnAdoptedTable checks the same for a table that was sharded by hand and adopted. If
// its shards were random, an item does not show its shard.
func TestShardOfAnAdoptedTable(t *testing.T) {
	url := door(t)
	for name, how := range map[string]string{"Calculated": "adopt=suffix shards=13 hash=code_points", "Drawn": "adopt=suffix strategy=random shards=5 write-once"} {
		list := thousand()
		for i, it := range list {
			key, sort := it["InvoiceNumber"].(*types.AttributeValueMemberS), it["Transaction"].(*types.AttributeValueMemberS)
			at := i%5 + 1
			if name == "Calculated" {
				l := shard.Layout{N: 13, Hash: shard.CodePoints} // five would divide the product for each "i"
				at = l.ShardOf(nil, []byte(sort.Value))
			}
			it["InvoiceNumber"] = s(fmt.Sprintf("%s-%d", strings.ReplaceAll(key.Value, "-", "."), at))
		}
		invoices(t, url, name, nil, list)
		if _, err := client(url).TagResource(t.Context(), &dynamodb.TagResourceInput{
			ResourceArn: aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/" + name), Tags: []types.Tag{{Key: aws.String("write-sharding"), Value: &how}},
		}); err != nil {
			t.Fatal(err)
		}
		tb := open(t, url, name, livedynamo.Options{})
		if tb.Table().Sharding != how {
			t.Errorf("%s: sharded as %q", name, tb.Table().Sharding)
		}
		if name == "Calculated" {
			piecewise(t, tb, 300, 520)
		} else if got := tb.Shard(attribute.NewItem(attribute.Attribute{Name: "Transaction", Value: attribute.String("Client7")})); got != 0 {
			t.Errorf("the shard of an item that a hand drew is %d", got)
		}
	}
}

// TestShardOfBucketsOfTime checks the same for a table whose partitions are buckets of time.
func TestShardOfBucketsOfTime(t *testing.T) {
	url := door(t)
	list := thousand()
	for i, it := range list {
		it["Transaction"] = s(time.Unix(int64(i-200)*977, 0).UTC().Format(time.RFC3339) + "#id")
	}
	invoices(t, url, "Timed", map[string]string{"write-sharding": "strategy=time by=Transaction bucket=6h shards=2"}, list)
	tb := open(t, url, "Timed", livedynamo.Options{})
	if d := tb.Table(); !d.Sharded() || d.Sharding != "strategy=time by=Transaction bucket=6h shards=2" {
		t.Fatalf("%+v", d)
	}
	piecewise(t, tb, 90, 1000)
}

// TestShardOfRollover checks that a table of strategy rollover is known as sharded. Its items do not
// show their shards, which the directory has.
func TestShardOfRollover(t *testing.T) {
	url := door(t)
	invoices(t, url, "Rolled", map[string]string{"write-sharding": "strategy=rollover rows=10 max=7"}, thousand())
	tb := open(t, url, "Rolled", livedynamo.Options{})
	if d := tb.Table(); !d.Sharded() || d.Sharding != "strategy=rollover rows=10 max=7" {
		t.Fatalf("%+v", d)
	}
	items := 0
	if _, err := tb.Scan(t.Context(), livedynamo.Segment{}, 0, func(it attribute.Item) error {
		if n := tb.Shard(it); n != 0 {
			t.Fatalf("shard %d", n)
		}
		items++
		return nil
	}); err != nil || items != 1000 {
		t.Errorf("%d items, %v", items, err)
	}
}

// piecewise checks that the thousand items of a shard of a key come together: no run of (key,
// shard) begins twice.
func piecewise(t *testing.T, tb *livedynamo.Table, least, most int) {
	t.Helper()
	seen, last, items := map[string]bool{}, "", 0
	if _, err := tb.Scan(t.Context(), livedynamo.Segment{}, 0, func(it attribute.Item) error {
		hash, _ := it.Get("InvoiceNumber")
		now := fmt.Sprintf("%s-%d", hash.Text(), tb.Shard(it))
		if now != last {
			if seen[now] {
				t.Fatalf("%s comes in pieces", now)
			}
			seen[now], last = true, now
		}
		items++
		return nil
	}); err != nil || items != 1000 || len(seen) < least || len(seen) > most {
		t.Errorf("%v: %d items in %d physical keys", err, items, len(seen))
	}
}

// TestErrors checks that the error for a missing table, or for a server that is no DynamoDB, has a
// way out.
func TestErrors(t *testing.T) {
	url := door(t)
	invoices(t, url, "Invoices", nil, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello") }))
	defer web.Close()
	host := strings.TrimPrefix(url, "http://")
	for _, c := range []struct{ address, want, hint string }{
		{"dynamodb://" + host + "/Invoicez", "there is no table Invoicez", "did you mean Invoices?"},
		{"dynamodb+https://" + host + "/Invoices", "does not speak TLS", "dynamodb://" + host + "/Invoices"},
		{"dynamodb://" + loopback.FreeAddr(t) + "/Invoices", "nothing listens there", "8000"},
		{"dynamodb://" + strings.TrimPrefix(web.URL, "http://") + "/Invoices", "no DynamoDB", "port of the DynamoDB API"},
		{"dynamodb://no-such-host.invalid:8000/Invoices", "no machine has that name", "check the host"},
	} {
		at, err := livedynamo.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = livedynamo.Open(t.Context(), at, livedynamo.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(livetable.Hint(err), c.hint) {
			t.Errorf("%s: %v (hint %q)", c.address, err, livetable.Hint(err))
		}
	}
	if _, _, err := open(t, url, "Invoices", livedynamo.Options{}).Rows(t.Context(), livedynamo.RowsOptions{}); err == nil || !strings.Contains(err.Error(), "has no items") {
		t.Errorf("an empty table: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	at, _ := livedynamo.Parse("dynamodb://eu-west-1/Invoices")
	if _, err := livedynamo.Open(t.Context(), at, livedynamo.Options{}); err == nil || !strings.Contains(err.Error(), "there are no credentials") || !strings.Contains(livetable.Hint(err), "AWS_PROFILE") {
		t.Errorf("without credentials: %v (%s)", err, livetable.Hint(err))
	}
}

// TestSame checks that a table that is deleted and created again is another table.
func TestSame(t *testing.T) {
	url := door(t)
	invoices(t, url, "Invoices", nil, nil)
	tb := open(t, url, "Invoices", livedynamo.Options{})
	if err := tb.Same(t.Context()); err != nil {
		t.Error(err)
	}
	name := "Invoices"
	if _, err := client(url).DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
		t.Fatal(err)
	}
	if err := tb.Same(t.Context()); !errors.Is(err, livetable.ErrDropped) {
		t.Error(err)
	}
	invoices(t, url, "Invoices", nil, nil)
	if err := tb.Same(t.Context()); !errors.Is(err, livetable.ErrDropped) {
		t.Error(err)
	}
}

// TestRates checks that rates limit all readers together, and a cancelled reading ends at once.
func TestRates(t *testing.T) {
	url := door(t)
	invoices(t, url, "Invoices", nil, thousand())
	began := time.Now()
	tb := open(t, url, "Invoices", livedynamo.Options{Rate: 2000})
	var wg sync.WaitGroup
	for _, seg := range livedynamo.Segments(4, 1, 1) {
		wg.Go(func() {
			if _, err := tb.Scan(t.Context(), seg, 50, func(attribute.Item) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took < 480*time.Millisecond {
		t.Errorf("1,000 items in %s at 2,000 a second", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := open(t, url, "Invoices", livedynamo.Options{Units: 0.5}).Scan(ctx, livedynamo.Segment{}, 10, func(attribute.Item) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	// Ctrl-C keeps the rows that were read.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	in, done, err := open(t, url, "Invoices", livedynamo.Options{Rate: 2000}).Rows(ctx, livedynamo.RowsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	read := int64(0)
	scanned, err := in.Scan(ctx, rows.ScanOptions{Workers: 1}, func(_ int, b *rows.Batch) error {
		read += int64(b.N)
		cancel()
		return nil
	})
	if err != nil || !scanned.Partial || read == 0 {
		t.Errorf("%v: %d rows, %+v", err, read, scanned)
	}
}
