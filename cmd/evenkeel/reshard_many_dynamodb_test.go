// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/reshard"
)

var (
	manyItems = flag.Int("reshard.items", 3000, "the number of items of TestManyItemsWhileKilled")
	manyFrom  = flag.Int("reshard.from", 0, "the number of its shards; 0: a plain table")
	manyTo    = flag.String("reshard.to", "4,6,0", "the numbers of shards that it changes to, one after the other")
	manyRate  = flag.Int("reshard.rate", 100, "requests a second of each of its four clients")
)

// inKey is the number of items with one partition key.
const inKey = 500

// owner is a client that alone writes some items, and so knows what they are.
type owner struct {
	c        *dynamodb.Client
	r        *rand.Rand
	items    []int // its items
	versions []int // of all items; it touches only its own
	doubt    map[int][]int
	took     []time.Duration // of requests before the change, and during it
	during   []time.Duration
	changing *atomic.Bool
	unsaid   int // requests without an answer
}

func keyOfMany(i int) attributes {
	return attributes{"p": &types.AttributeValueMemberS{Value: "key " + strconv.Itoa(i/inKey)}, "c": numberOf(i % inKey)}
}

func manyItem(i, version int) attributes {
	item := keyOfMany(i)
	item["v"], item["d"] = numberOf(version), &types.AttributeValueMemberS{Value: "a text of some length, as items have one " + strconv.Itoa(i)}
	return item
}

func versionOf(item attributes) (int, error) {
	v, ok := item["v"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("an item without its version: %v", item)
	}
	return strconv.Atoi(v.Value)
}

// settle notes that an item has a version, and returns an error if it cannot have.
func (o *owner) settle(i, version int) error {
	if version != o.versions[i] && !slices.Contains(o.doubt[i], version) {
		return fmt.Errorf("item %d has version %d; it should be %d, or in doubt %v", i, version, o.versions[i], o.doubt[i])
	}
	o.versions[i] = version
	delete(o.doubt, i)
	return nil
}

// work reads and writes items at a steady rate until the context ends.
func (o *owner) work(ctx context.Context) error {
	tick := time.NewTicker(time.Second / time.Duration(*manyRate))
	defer tick.Stop()
	next := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		i := o.items[o.r.IntN(len(o.items))]
		changing, began := o.changing.Load(), time.Now()
		var err error
		if o.r.IntN(2) == 0 {
			var a *dynamodb.GetItemOutput
			a, err = o.c.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("Many"), Key: keyOfMany(i), ConsistentRead: aws.Bool(true)})
			if err == nil {
				version, bad := versionOf(a.Item)
				if bad == nil {
					bad = o.settle(i, version)
				}
				if bad != nil {
					return bad
				}
			}
		} else {
			next++
			version := next*4 + o.items[0]%4 // no client gives a version twice
			if _, err = o.c.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("Many"), Item: manyItem(i, version)}); err == nil {
				o.versions[i] = version
				delete(o.doubt, i)
			} else {
				o.doubt[i] = append(o.doubt[i], version)
			}
		}
		switch {
		case err != nil:
			o.unsaid++
			time.Sleep(20 * time.Millisecond) // the door is dead
		case changing:
			o.during = append(o.during, time.Since(began))
		default:
			o.took = append(o.took, time.Since(began))
		}
	}
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))].Round(100 * time.Microsecond)
}

// changeMany changes the layout of table Many under load, and kills the door twice on the way.
func changeMany(t *testing.T, m *mortal, url string, from, to int, wrong <-chan error) {
	n := *manyItems
	at := reshardTable{Table: "Many", DynamoDB: url}
	door, err := at.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { door.Close() }()
	began := time.Now()
	if _, err := door.Start(t.Context(), reshard.Target{Shards: to}); err != nil {
		t.Fatal(err)
	}
	if _, err := door.Finish(t.Context()); err != nil { // the stubs need not stay for Scans
		t.Fatal(err)
	}
	var moved int64
	killed := map[string]bool{}
	for last := began; ; time.Sleep(time.Duration(min(n/1000, 500)+1) * time.Millisecond) {
		s, err := door.Status(t.Context())
		if err != nil {
			t.Fatalf("%v\n%s", err, m.printed.String())
		}
		select {
		case err := <-wrong:
			t.Fatal(err)
		default:
		}
		if time.Since(last) > time.Minute {
			last = time.Now()
			t.Logf("after %v: %s, %d of %d moved, %d verified, %d a second", time.Since(began).Round(time.Second), s.Phase, s.RowsMoved, s.RowsToMove, s.RowsVerified, s.Rate)
		}
		if moved = s.RowsMoved; s.Phase == reshard.NoPhase {
			break
		}
		if (s.Phase == "moving" && s.RowsMoved > s.RowsToMove/3 || s.Phase == "closing" || s.Phase == "cleaning" || s.Phase == "dropping") && len(killed) < 2 && !killed[s.Phase] {
			killed[s.Phase] = true
			door.Close()
			m.kill()
			m.start()
			if door, err = at.open(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("after %v: the door was killed in %s, with %d moved", time.Since(began).Round(time.Second), s.Phase, s.RowsMoved)
		}
	}
	t.Logf("%d items from %d to %d shards in %v: %d moved, %d kills (%v)", n, from, to, time.Since(began).Round(100*time.Millisecond), moved, len(killed), killed)
	if len(killed) == 0 {
		t.Error("the door was not killed")
	}
}

// TestManyItemsWhileKilled changes the layout of a plain table of many items under a steady load,
// several times, kills the door twice in each change, and accounts for each item. With -args
// -reshard.items=1000000 -reshard.to=50,75,0 it takes long.
func TestManyItemsWhileKilled(t *testing.T) {
	m := newMortal(t)
	url := "http://" + m.dynamodb
	c := dynamodb.New(dynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), Retryer: aws.NopRetryer{}})
	var tags []types.Tag
	if *manyFrom > 0 {
		tags = []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String(fmt.Sprintf("shards=%d", *manyFrom))}}
	}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Many"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "S"}, {AttributeName: aws.String("c"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: "HASH"}, {AttributeName: aws.String("c"), KeyType: "RANGE"}},
		Tags:                 tags,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := *manyItems
	began := time.Now()
	var batches atomic.Int64
	var loading sync.WaitGroup
	failed := make(chan error, 8)
	for range cap(failed) {
		loading.Go(func() {
			for {
				from := int(batches.Add(25)) - 25
				if from >= n {
					return
				}
				var puts []types.WriteRequest
				for i := from; i < min(n, from+25); i++ {
					puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: manyItem(i, 0)}})
				}
				a, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"Many": puts}}, sentAgain)
				if err == nil && len(a.UnprocessedItems) > 0 {
					err = errors.New("items were not written")
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	loading.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	t.Logf("%d items loaded in %v", n, time.Since(began).Round(time.Second))

	versions, changing := make([]int, n), new(atomic.Bool)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	owners := make([]*owner, 4)
	var working sync.WaitGroup
	wrong := make(chan error, len(owners))
	for k := range owners {
		o := &owner{c: c, r: rand.New(rand.NewPCG(*killsSeed, uint64(k))), versions: versions, doubt: map[int][]int{}, changing: changing}
		for i := k; i < n; i += len(owners) {
			o.items = append(o.items, i)
		}
		owners[k] = o
		working.Go(func() {
			if err := o.work(ctx); err != nil {
				wrong <- err
			}
		})
	}
	time.Sleep(min(10*time.Second, time.Duration(n)*time.Millisecond)) // the quiet phase

	changing.Store(true)
	from := *manyFrom
	for _, text := range strings.Split(*manyTo, ",") {
		to, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		changeMany(t, m, url, from, to, wrong)
		from = to
	}
	stop()
	working.Wait()
	select {
	case err := <-wrong:
		t.Fatal(err)
	default:
	}
	requests, unsaid := 0, 0
	var before, during []time.Duration
	for _, o := range owners {
		requests, unsaid = requests+len(o.took)+len(o.during), unsaid+o.unsaid
		before, during = append(before, o.took...), append(during, o.during...)
	}
	t.Logf("%d requests, %d without an answer; before: p50 %v, p99 %v; during: p50 %v, p99 %v", requests, unsaid, quantile(before, 0.5), quantile(before, 0.99), quantile(during, 0.5), quantile(during, 0.99))

	seen := make([]bool, n)
	for start := attributes(nil); ; {
		a, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Many"), ExclusiveStartKey: start}, sentAgain)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range a.Items {
			var key, c int
			p, _ := item["p"].(*types.AttributeValueMemberS)
			number, _ := item["c"].(*types.AttributeValueMemberN)
			if p == nil || number == nil {
				t.Fatalf("a Scan shows %v", item)
			}
			if _, err := fmt.Sscanf(p.Value+" "+number.Value, "key %d %d", &key, &c); err != nil {
				t.Fatal(err)
			}
			i := key*inKey + c
			if i >= n || seen[i] {
				t.Fatalf("a Scan shows %v, which it has shown, or nobody has put", item)
			}
			seen[i] = true
			version, err := versionOf(item)
			if err == nil {
				err = owners[i%len(owners)].settle(i, version)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if start = a.LastEvaluatedKey; start == nil {
			break
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		t.Errorf("item %d is lost", i)
	}
}
