// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/internal/testkit/register"
)

const registers = 16

// TestLinearizable runs 64 writers and 32 readers on 16 items. The store takes time before and
// after each operation, and fails at times, with or without having done it. The clock advances by
// whole milliseconds when all goroutines wait. So the amount of work in a second does not depend on
// the machine, and operations that begin in the same millisecond run concurrently.
func TestLinearizable(t *testing.T) { synctest.Test(t, linearizable) }

func linearizable(t *testing.T) {
	begin := time.Now()
	x := start(t, func(o *Options) {
		// Time passes fast, so that entries expire and unknown outcomes settle within the test.
		o.Now = func() time.Time { return begin.Add(500 * time.Since(begin)) }
	})
	var all [registers]register.Register
	for n := range registers {
		x.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"%d"},"c":{"N":"0"}}}`, n))
	}
	pause := func(ctx context.Context, operation, _ string) error {
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		if rand.IntN(100) == 0 && operation != "DescribeTimeToLive" {
			switch rand.IntN(3) {
			case 0:
				return errors.New("connection reset")
			case 1:
				panic("as asked")
			}
			return exception.New(exception.InternalServerError, "")
		}
		return ctx.Err()
	}
	x.store.hook(pause, pause)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	// send gives a client a context that sometimes ends early.
	send := func(operation, body string) (answer []byte, err error) {
		ctx := as(strconv.Itoa(rand.IntN(2)))
		if rand.IntN(20) == 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(5))*time.Millisecond)
			defer cancel()
		}
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return x.Do(ctx, operation, []byte(body), nil)
	}
	table := func() string {
		return []string{"Tab", "arn:aws:dynamodb:us-east-1:000000000000:table/Tab"}[rand.IntN(2)]
	}
	key := func(n int) string {
		return fmt.Sprintf([]string{`{"k":{"S":"a"},"n":{"N":"%d"}}`, `{"n":{"N":"%d.0"},"k":{"S":"\u0061"}}`}[rand.IntN(2)], n)
	}
	for range 64 {
		running.Go(func() {
			for ctx.Err() == nil {
				n := rand.IntN(registers)
				add := `{"TableName":"` + table() + `","Key":` + key(n) + `,"UpdateExpression":"ADD c :1","ExpressionAttributeValues":{":1":{"N":"1"}}}`
				operation := "UpdateItem"
				if rand.IntN(2) == 0 {
					operation, add = "TransactWriteItems", `{"TransactItems":[{"Update":`+add+`}]}`
				}
				all[n].Begin()
				began := time.Now()
				if _, err := send(operation, add); err == nil {
					all[n].Acknowledge()
				}
				// Pause sometimes, so that nobody writes.
				time.Sleep(time.Duration(rand.IntN(40))*time.Millisecond + 10*time.Since(began))
			}
		})
	}
	for range 32 {
		running.Go(func() {
			for ctx.Err() == nil {
				n := rand.IntN(registers)
				var floors [registers]int64
				for i := range all {
					floors[i] = all[i].Floor()
				}
				var operation, body string
				switch rand.IntN(8) {
				case 0:
					operation, body = "Query", `{"TableName":"`+table()+`","KeyConditionExpression":"k = :k","ExpressionAttributeValues":{":k":{"S":"a"}}}`
				case 1, 2:
					operation, body = "BatchGetItem", `{"RequestItems":{"`+table()+`":{"Keys":[`+key(n)+`,`+key((n+1)%registers)+`]}}}`
				case 3:
					operation, body = "GetItem", `{"TableName":"Tab","ConsistentRead":true,"Key":`+key(n)+`}`
				case 4:
					operation, body = "GetItem", `{"TableName":"Tab","ProjectionExpression":"c,n","Key":`+key(n)+`}`
				default:
					operation, body = "GetItem", `{"TableName":"`+table()+`","Key":`+key(n)+`}`
				}
				answer, err := send(operation, body)
				if err != nil {
					continue
				}
				for i, value := range counters(t, operation, answer) {
					all[i].Check(t, fmt.Sprintf("%s, item %d", operation, i), floors[i], value)
				}
			}
		})
	}
	time.Sleep(time.Second)
	stop()
	running.Wait()
	// The usual counts are about 8,000, 750 and 800.
	if s := x.Stats(); s.Hits < 300 || s.Coalesced < 20 || s.Invalidated < 200 {
		t.Errorf("a test of little: %+v", s)
	}
	x.store.hook(nil, nil)
}

// counters returns the counters in an answer, by their registers.
func counters(t *testing.T, operation string, answer []byte) map[int]int64 {
	type item struct{ N, C struct{ N string } }
	var a struct {
		Item      *item
		Items     []item
		Responses map[string][]item
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Errorf("%s: %s: %v", operation, answer, err)
	}
	items := a.Items
	for _, more := range a.Responses {
		items = append(items, more...)
	}
	if a.Item != nil {
		items = append(items, *a.Item)
	}
	if want := map[string]int{"Query": registers, "BatchGetItem": 2, "GetItem": 1}[operation]; len(items) != want {
		t.Errorf("%s: %d items, want %d", operation, len(items), want)
	}
	out := make(map[int]int64)
	for _, it := range items {
		n, err := strconv.Atoi(it.N.N)
		c, err2 := strconv.ParseInt(it.C.N, 10, 64)
		if err := errors.Join(err, err2); err != nil {
			t.Errorf("%s: %s: %v", operation, answer, err)
		}
		out[n] = c
	}
	return out
}

// TestLaw sends a random history to a cache and to an engine alone, and checks that the answers are
// equal.
func TestLaw(t *testing.T) {
	x := start(t)
	alone := open(t)
	if _, err := alone.Do(t.Context(), "CreateTable", []byte(createT), nil); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	key := func() string { return keyOf(rnd.IntN(6)) }
	item := func() string {
		return strings.TrimSuffix(key(), "}") + fmt.Sprintf(`,"v":{"S":"%d"},"c":{"N":"%d"},"l":{"L":[{"S":"é\n"},{"NULL":true}]}}`, rnd.IntN(10), rnd.IntN(3))
	}
	keys := func() string { return keyOf(rnd.IntN(2)) + "," + keyOf(2+rnd.IntN(2)) + "," + keyOf(4+rnd.IntN(2)) }
	project := func() string {
		return []string{"", `,"ProjectionExpression":"v,k,n"`, `,"ProjectionExpression":"l[0],c"`, `,"AttributesToGet":["n","k"]`}[rnd.IntN(4)]
	}
	for range 5000 {
		var operation, body string
		switch rnd.IntN(12) {
		case 0:
			operation, body = "PutItem", `{"TableName":"Tab","Item":`+item()+`}`
		case 1:
			operation, body = "PutItem", `{"TableName":"Tab","Item":`+item()+`,"ConditionExpression":"attribute_not_exists(k)"}`
		case 2:
			operation, body = "UpdateItem", `{"TableName":"Tab","Key":`+key()+`,"UpdateExpression":"ADD c :1","ExpressionAttributeValues":{":1":{"N":"1"}},"ReturnValues":"ALL_NEW"}`
		case 3:
			operation, body = "DeleteItem", `{"TableName":"Tab","Key":`+key()+`,"ReturnValues":"ALL_OLD"}`
		case 4:
			operation, body = "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":`+item()+`}},{"DeleteRequest":{"Key":`+key()+`}}]}}`
		case 5:
			operation, body = "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":`+item()+`}},{"ConditionCheck":{"TableName":"Tab","Key":`+key()+`,"ConditionExpression":"c < :2","ExpressionAttributeValues":{":2":{"N":"2"}}}}]}`
		case 6, 7:
			operation, body = "BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[`+keys()+`]`+project()+`}}}`
		case 8:
			operation, body = "Query", queryBody+project()+`}`
		case 9:
			operation, body = "GetItem", `{"TableName":"Tab","Key":`+key()+`,"ConsistentRead":true}`
		default:
			operation, body = "GetItem", `{"TableName":"Tab","Key":`+key()+project()+`}`
		}
		got, err := x.as("a", operation, body)
		want, wantErr := alone.Do(t.Context(), operation, []byte(body), nil)
		if got != string(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s %s\n%s %v, alone\n%s %v", operation, body, got, err, want, wantErr)
		}
	}
	if s := x.Stats(); s.HitRatio() < 0.1 || s.Invalidated < 100 {
		t.Errorf("a test of little: %+v", s)
	}
}
