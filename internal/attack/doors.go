// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/dynamodiff"
)

// attackDoors uses two doors on one store, and meanwhile drops and creates tables there with
// another layout or none, and changes their layouts while they are used. It attacks the CQL doors if there is a Cassandra. The DynamoDB doors are
// in front of an evenkeel that shards nothing.
func attackDoors(f *field) error {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	back, err := f.newServer("back", "--dynamodb-sharding", "off", "--listen-cql", "off")
	if err != nil {
		return err
	}
	defer func() { back.stop(); back.guard.Close() }()
	flags := []string{"--dynamodb", "http://" + back.dynamo, "--dynamodb-region", "us-east-1"}
	if f.cassandra != "" {
		flags = append(flags, "--cassandra", f.cassandra)
	}
	var doors [2]*server
	for i := range doors {
		if doors[i], err = f.newServer(fmt.Sprintf("door-%d", i), flags...); err != nil {
			return err
		}
		defer doors[i].close(f)
	}
	var wg sync.WaitGroup
	if f.cassandra != "" {
		if err := oneQuery(doors[0].cql, "DROP KEYSPACE IF EXISTS w", workKeyspace); err != nil {
			return err
		}
		for i := range 2 {
			r := f.fork()
			wg.Go(func() {
				for n := 0; !f.over(); n++ {
					f.cqlLife(r, doors, fmt.Sprintf("w.t%d", i))
				}
			})
		}
	}
	for i := range 2 {
		r := f.fork()
		wg.Go(func() {
			for n := 0; !f.over(); n++ {
				// A table can remain in use by its change of layout for minutes.
				f.itemsLife(r, doors, fmt.Sprintf("Life%d.%d", i, n))
			}
		})
	}
	wg.Wait()
	return nil
}

func oneQuery(addr string, texts ...string) error {
	c, err := difftest.Dial(addr, primitive.ProtocolVersion5, "", "")
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range texts {
		if a, err := c.Query(difftest.Request{Query: text}); err != nil || a.Kind == difftest.Error {
			return fmt.Errorf("%s: %v %w", text, a, err)
		}
	}
	return nil
}

// lease is how long a DynamoDB door may use what it has read of the catalogue. A write that takes longer
// may have an unknown outcome.
const lease = 2 * time.Second

// These are the phases of a table. From the acknowledgement of its creation until its drop, the
// table must exist: it is settled.
const (
	settled = iota
	changing
)

// slowCode reports whether a code means that a store or door is overloaded or waits.
func slowCode(c primitive.ErrorCode) bool {
	switch c {
	case primitive.ErrorCodeOverloaded, primitive.ErrorCodeWriteTimeout, primitive.ErrorCodeReadTimeout, primitive.ErrorCodeUnavailable:
		return true
	}
	return false
}

// cqlLife creates a table at one door, uses it at both, may alter it, and drops it while it is used.
func (f *field) cqlLife(r *rand.Rand, doors [2]*server, table string) {
	property := pick(r, "", "", " WITH write_sharding = {'shards': '3'}", " WITH write_sharding = {'shards': '8'}", " WITH write_sharding = {'shards': '5', 'strategy': 'random'}", " WITH write_sharding = {'shards': '6', 'column': 'bucket'}")
	create := "CREATE TABLE " + table + " (p int, c int, v int, PRIMARY KEY (p, c))" + property
	var phase atomic.Int32
	phase.Store(changing)
	var acked sync.Map
	var wg sync.WaitGroup
	end := make(chan struct{})
	first := r.IntN(2)
	for i := range 4 {
		r := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		wg.Go(func() { f.useRows(r, doors[(i+first)%2], table, i, &phase, &acked, end) })
	}
	time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
	if err := oneQuery(doors[r.IntN(2)].cql, create); err != nil && !strings.Contains(err.Error(), "already exists") {
		f.fault("a table cannot be created", "%v", err)
	}
	phase.Store(settled)
	time.Sleep(time.Duration(300+r.IntN(1500)) * time.Millisecond)
	if r.IntN(2) == 0 {
		if err := oneQuery(doors[r.IntN(2)].cql, "ALTER TABLE "+table+" ADD w int"); err != nil {
			f.fault("a table cannot be altered", "%s: %v", create, err)
		}
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
	}
	if r.IntN(3) == 0 {
		f.changeLayout(r, doors, table, create)
	}
	phase.Store(changing) // no write is acknowledged from here on
	time.Sleep(20 * time.Millisecond)
	f.foundAtBoth(doors, table, create, &acked)
	if err := oneQuery(doors[r.IntN(2)].cql, "DROP TABLE "+table); err != nil {
		f.fault("a table cannot be dropped", "%s: %v", create, err)
	}
	time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
	close(end)
	wg.Wait()
}

// changeLayout gives a table another layout at one door, and returns when either door says that the
// change is over.
func (f *field) changeLayout(r *rand.Rand, doors [2]*server, table, create string) {
	change := "ALTER TABLE " + table + " WITH write_sharding = " + pick(r, "{'shards': '4'}", "{'shards': '9'}", "{'shards': '2'}", "{}")
	if err := oneQuery(doors[r.IntN(2)].cql, change); err != nil {
		if !strings.Contains(err.Error(), "write_sharding: ") {
			f.fault("a layout cannot be changed", "%s: %s: %v", create, change, err)
		}
		return // it is refused for this table, which docs/reshard.md says
	}
	begun, last := time.Now(), ""
	for ; time.Since(begun) < 2*time.Minute && f.ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		c, err := difftest.Dial(doors[r.IntN(2)].cql, primitive.ProtocolVersion5, "", "")
		if err != nil {
			continue
		}
		a, err := c.Query(difftest.Request{Query: "ALTER TABLE " + table + " WITH write_sharding = {'change': 'status'}"})
		if err == nil && a.Kind == difftest.Rows && len(a.Rows) == 1 {
			last = string(a.Rows[0][0])
		} else {
			last = fmt.Sprint(a, err)
		}
		if strings.Contains(last, `"settled"`) {
			_, _ = c.Query(difftest.Request{Query: "ALTER TABLE " + table + " WITH write_sharding = {'change': 'finish'}"}) // the status shows what it did
		}
		c.Close()
		if strings.Contains(last, `"none"`) {
			return
		}
	}
	if f.ctx.Err() == nil {
		f.fault("a change of layout does not end", "%s: %s: after %v %s", create, change, time.Since(begun), last)
	}
}

// useRows writes and reads at a door, with texts and with ids prepared in earlier lives.
func (f *field) useRows(r *rand.Rand, door *server, table string, writer int, phase *atomic.Int32, acked *sync.Map, end chan struct{}) {
	c, err := difftest.Dial(door.cql, pick(r, primitive.ProtocolVersion4, primitive.ProtocolVersion5), "", "")
	if err != nil {
		f.fault("a client cannot connect", "%v", err)
		return
	}
	defer func() { c.Close() }()
	insert := "INSERT INTO " + table + " (p, c, v) VALUES (?, ?, ?)"
	read := "SELECT v FROM " + table + " WHERE p = ? AND c = ?"
	whole := "SELECT " + pick(r, "c, v", "*") + " FROM " + table + " WHERE p = ?"
	prepared := map[string]*difftest.Answer{}
	bytes4 := func(n int) *primitive.Value {
		return primitive.NewValue([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	for n := writer; ; n += 4 {
		select {
		case <-end:
			return
		default:
		}
		text, values := insert, []*primitive.Value{bytes4(n % 3), bytes4(n), bytes4(n)}
		switch r.IntN(4) {
		case 0:
			text, values = read, values[:2]
		case 1:
			text, values = whole, values[:1]
		}
		before := phase.Load()
		var a *difftest.Answer
		if r.IntN(3) > 0 {
			if prepared[text] == nil {
				if p, err := c.Prepare(text); err == nil && p.Kind == difftest.Prepared {
					prepared[text] = p
				} else if a = p; err != nil {
					f.fault("a connection is lost", "PREPARE %s: %v", text, err)
					return
				}
			}
			if p := prepared[text]; p != nil {
				a, err = c.Execute(p, difftest.Request{Values: values})
				if err == nil && a.Kind == difftest.Error && a.Code == primitive.ErrorCodeUnprepared {
					prepared[text] = nil
					continue
				}
			}
		} else {
			a, err = c.Query(difftest.Request{Query: text, Values: values})
		}
		f.sent.Add(1)
		if err != nil || a == nil {
			f.fault("a connection is lost", "%s: %v", text, err)
			return
		}
		after := phase.Load()
		table := fmt.Sprintf("%s, prepared %v, there before and after %v %v", text, prepared[text] != nil, before == settled, after == settled)
		switch {
		case a.Kind != difftest.Error:
			if text == insert && before == settled && after == settled {
				acked.Store(n, true)
			}
		case slowCode(a.Code), before != settled && strings.HasPrefix(a.Text, "java.lang."): // Cassandra's own
		case strings.Contains(a.Text, "shard") || strings.Contains(a.Text, "bucket") || strings.Contains(a.Text, "mismatch") || strings.Contains(a.Text, "gives up"):
			f.fault("an error about what is hidden", "%s: %v", table, a)
		case before == settled && after == settled:
			f.fault("an error on a table that is there", "%s: %v", table, a)
		case a.Code != primitive.ErrorCodeInvalid && a.Code != primitive.ErrorCodeUnprepared:
			f.fault("another error than that there is no table", "%s: %v", table, a)
		case !strings.Contains(a.Text, "does not exist") && !strings.Contains(a.Text, "unconfigured table"):
			f.fault("another error than that there is no table", "%s: %v", table, a)
		}
		if a.Kind == difftest.Error {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		}
	}
}

// foundAtBoth looks for each acknowledged row at both doors, by its key and by its partition. Only
// one of the two finds a row in a wrong shard.
func (f *field) foundAtBoth(doors [2]*server, table, create string, acked *sync.Map) {
	for i, door := range doors {
		c, err := difftest.Dial(door.cql, primitive.ProtocolVersion5, "", "")
		if err != nil {
			f.fault("a client cannot connect", "%v", err)
			return
		}
		there := map[int]bool{}
		for p := range 3 {
			a, err := c.Query(difftest.Request{Query: fmt.Sprintf("SELECT c FROM %s WHERE p = %d", table, p)})
			if err != nil || a.Kind != difftest.Rows {
				if err == nil && slowCode(a.Code) {
					c.Close()
					return
				}
				f.fault("an error on a table that is there", "%s: door %d: %v %v", create, i, a, err)
				c.Close()
				return
			}
			for _, row := range a.Rows {
				if n := number(row[0]); there[n] {
					f.fault("a row comes twice", "%s: row %d at door %d", create, n, i)
				} else {
					there[n] = true
				}
			}
		}
		count := 0
		acked.Range(func(key, _ any) bool {
			n := key.(int)
			if !there[n] {
				f.fault("an acknowledged row is not there", "%s: row %d at door %d", create, n, i)
			}
			count++
			if count > 150 {
				return true
			}
			a, err := c.Query(difftest.Request{Query: fmt.Sprintf("SELECT v FROM %s WHERE p = %d AND c = %d", table, n%3, n)})
			if err == nil && (a.Kind != difftest.Rows || len(a.Rows) != 1) && !slowCode(a.Code) {
				f.fault("a row is not found by its key", "%s: row %d at door %d: %v", create, n, i, a)
			}
			return true
		})
		c.Close()
	}
}

// itemsLife does the work of cqlLife for the DynamoDB doors.
func (f *field) itemsLife(r *rand.Rand, doors [2]*server, table string) {
	tags := ""
	if n := r.IntN(4); n > 0 {
		tags = fmt.Sprintf(`,"Tags":[{"Key":"write-sharding","Value":"shards=%d"}]`, n*n+1)
	}
	create := fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]%s}`, table, tags)
	var phase atomic.Int32
	phase.Store(changing)
	var acked sync.Map
	var wg sync.WaitGroup
	end := make(chan struct{})
	for i := range 4 {
		r := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		wg.Go(func() { f.useItems(r, doors[i%2].items(), table, i, &phase, &acked, end) })
	}
	defer wg.Wait()
	defer close(end)
	time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
	a, err := doors[r.IntN(2)].items().Do("CreateTable", create) // returns when it is ACTIVE
	if err != nil || a.Status != http.StatusOK {
		f.fault("a table cannot be created", "%s: %v %v", create, a, err)
		return
	}
	phase.Store(settled)
	time.Sleep(time.Duration(300+r.IntN(1500)) * time.Millisecond)
	moving := r.IntN(3) == 0
	if moving {
		a, err := doors[r.IntN(2)].items().Do("TagResource", fmt.Sprintf(`{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/%s","Tags":[{"Key":"write-sharding","Value":"shards=%d"}]}`, table, pick(r, 3, 4, 9)))
		if err != nil || a.Status != http.StatusOK {
			f.fault("a layout cannot be changed", "%s: %v %v", create, a, err)
		}
		time.Sleep(time.Duration(r.IntN(15_000)) * time.Millisecond)
	}
	phase.Store(changing)
	time.Sleep(20 * time.Millisecond)
	for i, door := range doors {
		there := map[int]bool{}
		for start := ""; ; {
			a, err := door.items().Do("Query", fmt.Sprintf(`{"TableName":%q,"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}},"ConsistentRead":true%s}`, table, start))
			if err != nil || a.Status != http.StatusOK {
				f.fault("an error on a table that is there", "%s: door %d: %v %v", create, i, a, err)
				return
			}
			m, _ := a.Body.(map[string]any)
			items, _ := m["Items"].([]any)
			for _, it := range items {
				there[member(it, "r")] = true
			}
			if m["LastEvaluatedKey"] == nil {
				break
			}
			start = fmt.Sprintf(`,"ExclusiveStartKey":{"h":{"S":"a"},"r":{"N":"%d"}}`, member(m["LastEvaluatedKey"], "r"))
		}
		acked.Range(func(key, _ any) bool {
			n := key.(int)
			if !there[n] {
				f.fault("an acknowledged item is not there", "%s: item %d at door %d", create, n, i)
			}
			if n%7 == 0 {
				a, err := door.items().Do("GetItem", fmt.Sprintf(`{"TableName":%q,"Key":{"h":{"S":"a"},"r":{"N":"%d"}},"ConsistentRead":true}`, table, n))
				if m, _ := a.Body.(map[string]any); err == nil && m["Item"] == nil {
					f.fault("an item is not found by its key", "%s: item %d at door %d: %v", create, n, i, a)
				}
			}
			return true
		})
	}
	a, err = doors[r.IntN(2)].items().Do("DeleteTable", fmt.Sprintf(`{"TableName":%q}`, table))
	if inUse := moving && strings.Contains(fmt.Sprint(a.Body), "ResourceInUse"); err != nil || a.Status != http.StatusOK && !inUse {
		f.fault("a table cannot be dropped", "%s: %v %v", create, a, err)
	}
	time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
}

func (f *field) useItems(r *rand.Rand, door dynamodiff.Target, table string, writer int, phase *atomic.Int32, acked *sync.Map, end chan struct{}) {
	for n := writer; ; n += 4 {
		select {
		case <-end:
			return
		default:
		}
		operation, body := "PutItem", fmt.Sprintf(`{"TableName":%q,"Item":{"h":{"S":"a"},"r":{"N":"%d"}}}`, table, n)
		switch r.IntN(5) {
		case 0:
			operation, body = "GetItem", fmt.Sprintf(`{"TableName":%q,"Key":{"h":{"S":"a"},"r":{"N":"%d"}}}`, table, n)
		case 1:
			operation, body = "Query", fmt.Sprintf(`{"TableName":%q,"KeyConditionExpression":"h = :h","Limit":5,"ExpressionAttributeValues":{":h":{"S":"a"}}}`, table)
		case 2:
			operation, body = "DescribeTable", fmt.Sprintf(`{"TableName":%q}`, table)
		}
		before, begun := phase.Load(), time.Now()
		a, err := door.Do(operation, body)
		after, took := phase.Load(), time.Since(begun)
		f.sent.Add(1)
		text := fmt.Sprint(a.Body)
		switch {
		case err != nil:
			f.fault("a request has no answer", "%s: %v", body, err)
			return
		case strings.Contains(text, "evenkeel."):
			f.fault("what is hidden is shown", "%s: %v", body, a)
		case a.Status == http.StatusOK:
			if operation == "PutItem" && before == settled && after == settled {
				acked.Store(n, true)
			}
		case (before != settled || after != settled || took > lease/2) && strings.Contains(text, "whether the write was done is not known"): // it was under way for longer than the lease
		case before == settled && after == settled, a.Status >= 500, !strings.Contains(text, "ResourceNotFound") && !strings.Contains(text, "ResourceInUse"):
			f.fault(fmt.Sprintf("an error beside a table that is created or deleted, settled %v", before == settled && after == settled), "%s %s: %v", operation, body, a)
		}
		if a.Status != http.StatusOK {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		}
	}
}
