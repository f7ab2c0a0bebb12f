// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// attackWork sends requests that ask for as much as possible. Half of the clients leave before the
// answer.
func attackWork(f *field) error { return f.eachStore("work", f.work, "--memory", memoryBudget) }

func (f *field) work(target *server, direct string) error {
	inFront := direct != ""
	odd := &server{cql: direct} // where Cassandra is slow itself, the door is not at fault
	if !inFront {
		var err error
		if odd, err = f.newServer("odd"); err != nil {
			return err
		}
		defer odd.close(f)
		for _, s := range []*server{target, odd} {
			if _, err := s.items().Do("CreateTable", `{"TableName":"probe","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"}]}`); err != nil {
				return err
			}
		}
	}
	if err := fillWork(f, target, inFront); err != nil {
		return err
	}
	f.begin()
	w, err := newWatch(f, target, odd, inFront)
	if err != nil {
		return err
	}
	if !inFront {
		w.probeItems()
	}
	var wg sync.WaitGroup
	for range 6 {
		r := f.fork()
		wg.Go(func() {
			for !f.over() && target.alive() {
				pick(r, askMuch, askMuch, askMuch, askMuch, askMuch, askMuch, askManyStatements, askWide)(f, r, target)
			}
		})
	}
	if !inFront {
		for range 3 {
			r := f.fork()
			wg.Go(func() {
				for !f.over() && target.alive() {
					askManyItems(f, r, target)
				}
			})
		}
	}
	wg.Wait()
	w.finish()
	return nil
}

const workKeyspace = "CREATE KEYSPACE w WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

var workTables = []string{"a", "b", "c", "d"}

// fillWork creates plain, sharded and widely sharded tables with long and short rows, and the same
// for DynamoDB.
func fillWork(f *field, s *server, inFront bool) error {
	c, err := difftest.Dial(s.cql, primitive.ProtocolVersion5, "", "")
	if err != nil {
		return err
	}
	defer c.Close()
	do := func(text string, values ...*primitive.Value) error {
		a, err := c.Query(difftest.Request{Query: text, Values: values})
		if err == nil && a.Kind == difftest.Error {
			err = fmt.Errorf("%.200s: %v", text, a)
		}
		return err
	}
	statements := []string{"DROP KEYSPACE IF EXISTS w", workKeyspace}
	columns := "(p int, c int, d int, n int, x decimal, i varint, t text, l list<int>, m map<int, text>, b blob, PRIMARY KEY (p, c, d))"
	for i, with := range []string{"", " WITH write_sharding = {'shards': '20'}", " WITH write_sharding = {'shards': '1000'}", " WITH write_sharding = {'shards': '50', 'strategy': 'random'}"} {
		statements = append(statements, "CREATE TABLE w."+workTables[i]+" "+columns+with)
	}
	for _, text := range statements {
		if err := do(text); err != nil {
			return err
		}
	}
	for _, table := range workTables {
		for p := range 4 {
			size, rows := 200, 400
			if p == 3 { // 100 MB in all
				size, rows = 1<<20, 25
			}
			for i := range rows {
				// Under strategy random, collections are written to every shard.
				names, collections := ", l, m", ", [1, 2], {1: 'a'}"
				if table == "d" {
					names, collections = "", ""
				}
				if err := do(fmt.Sprintf("INSERT INTO w.%s (p, c, d, n, x, i, t, b%s) VALUES (%d, %d, %d, %d, %d.5e%d, %d, 'text %d', ?%s)", table, names, p, i/5, i, i, i, i*7%300, i, i, collections),
					primitive.NewValue(make([]byte, size))); err != nil {
					return err
				}
			}
		}
	}
	if inFront {
		return nil
	}
	for _, name := range []string{"Plain", "Sharded"} {
		tags := ""
		if name == "Sharded" {
			tags = `,"Tags":[{"Key":"write-sharding","Value":"shards=20"}]`
		}
		if a, err := s.items().Do("CreateTable", fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]%s}`, name, tags)); err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("CreateTable: %v %v", a, err)
		}
		for i := range 200 {
			long := strings.Repeat("x", 100+i%10/9*350_000)
			if a, err := s.items().Do("PutItem", fmt.Sprintf(`{"TableName":%q,"Item":{"h":{"S":"k%d"},"r":{"N":"%d"},"n":{"N":"%d"},"t":{"S":%q},"l":{"L":[{"N":"1"}]}}}`, name, i%5, i, i, long)); err != nil || a.Status != http.StatusOK {
				return fmt.Errorf("PutItem: %v %v", a, err)
			}
		}
	}
	return nil
}

// intList returns a serialized list of n ints, sorted or not.
func intList(r *rand.Rand, n int) *primitive.Value {
	b := binary.BigEndian.AppendUint32(nil, uint32(n))
	apart := r.IntN(3)
	for i := range n {
		b = binary.BigEndian.AppendUint32(b, 4)
		b = binary.BigEndian.AppendUint32(b, uint32([]int{i, i % 7, r.Int()}[apart]))
	}
	return primitive.NewValue(b)
}

// nested returns text inside n pairs of brackets.
func nested(open, text, end string, n int) string {
	return strings.Repeat(open, n) + text + strings.Repeat(end, n)
}

func selection(r *rand.Rand) string {
	one := func() string {
		switch r.IntN(9) {
		case 0:
			return "x" + strings.Repeat(pick(r, " * x", " + x", " * 1e3000", " / 3", " % 7"), r.IntN(upTo(r, 200)))
		case 1:
			return "i" + strings.Repeat(" * i", r.IntN(upTo(r, 300)))
		case 2:
			return nested("toJson(", "t", ")", 1) + ", " + nested("cast(", "x", " as text)", 1)
		case 3:
			return pick(r, "count(*)", "max(x)", "sum(x)", "avg(i)", "sum(i)", "min(b)", "max(m)")
		case 4:
			return fmt.Sprintf("(decimal)1e%d + x", r.IntN(upTo(r, 2_000_000_000)))
		case 5:
			return fmt.Sprintf("round(x, %d)", r.IntN(upTo(r, 1_000_000))) + ", exp(x), log10(x)"
		case 6:
			return "writetime(n), ttl(n), token(p), blobAsText(b), textAsBlob(t)"
		default:
			return pick(r, "*", "p, c, d, n", "c", "b", "b, b, b, b", "t", "m, l")
		}
	}
	n := 1
	if r.IntN(5) == 0 {
		n = upTo(r, 5000)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = one()
	}
	if n > 1 {
		for i := range out {
			if strings.Contains(out[i], "*") && len(out[i]) == 1 {
				out[i] = "b"
			}
		}
	}
	return pick(r, "", "", "", "JSON ", "DISTINCT ") + strings.Join(out, ", ")
}

// muchText draws a statement that asks for much, with its values.
func muchText(r *rand.Rand) (string, []*primitive.Value) {
	var values []*primitive.Value
	table := "w." + pick(r, workTables...)
	where := func(all bool) string {
		var parts []string
		for i, name := range []string{"p", "c", "d"} {
			if !all && i > 0 && r.IntN(3) == 0 {
				break
			}
			switch r.IntN(3) {
			case 0:
				parts = append(parts, fmt.Sprintf("%s = %d", name, r.IntN(5)))
			default:
				parts = append(parts, name+" IN ?")
				values = append(values, intList(r, upTo(r, 40_000)))
			}
		}
		return strings.Join(parts, " AND ")
	}
	read := func() string {
		text := fmt.Sprintf("SELECT %s FROM %s WHERE %s", selection(r), table, where(false))
		if r.IntN(3) == 0 {
			text += " AND n IN ?"
			values = append(values, intList(r, upTo(r, 60_000)))
		}
		text += pick(r, "", "", " GROUP BY p", " GROUP BY p, c", " GROUP BY p, c, d") + pick(r, "", "", " ORDER BY c", " ORDER BY c DESC, d DESC") +
			pick(r, "", "", " PER PARTITION LIMIT 3", " LIMIT 2000000000") + pick(r, " ALLOW FILTERING", "")
		return text
	}
	write := func() string {
		switch r.IntN(5) {
		case 0:
			return fmt.Sprintf("DELETE FROM %s WHERE %s", table, where(false))
		case 1:
			return fmt.Sprintf("DELETE n FROM %s WHERE %s", table, where(true))
		case 2:
			values = append(values, primitive.NewValue(make([]byte, upTo(r, 1<<20))))
			return fmt.Sprintf("UPDATE %s SET b = ? WHERE %s", table, where(true))
		case 3:
			values = append(values, intList(r, upTo(r, 60_000)))
			return fmt.Sprintf("UPDATE %s SET l = l + ? WHERE %s", table, where(true))
		default:
			return fmt.Sprintf("UPDATE %s SET n = 1 WHERE %s", table, where(true)) + pick(r, "", " IF n = 1", " IF EXISTS")
		}
	}
	switch r.IntN(12) {
	case 0, 1:
		// Statements on key 9 write to an empty partition.
		return write(), values
	case 2:
		var parts []string
		for range upTo(r, 300) {
			parts = append(parts, write()+";")
		}
		return "BEGIN " + pick(r, "", "UNLOGGED ") + "BATCH " + strings.Join(parts, " ") + " APPLY BATCH", values
	case 3:
		n := upTo(r, 200_000)
		return fmt.Sprintf("SELECT %s FROM %s WHERE p = 1", pick(r, nested("(", "1", ")", n), nested("[", "1", "]", n), nested("toJson(", "n", ")", n/4), nested("cast(", "n", " as text)", n/8),
			nested("-", "n", "", n), nested("{", "1", "}", n), "n"+strings.Repeat(".a", n), "m"+strings.Repeat("[1]", n)), table), values
	case 4:
		n := upTo(r, 100_000)
		return fmt.Sprintf("CREATE TABLE w.deep (p int PRIMARY KEY, v %s)", pick(r, nested("frozen<list<", "int", ">>", n), nested("frozen<", "set<int>", ">", n), nested("tuple<", "int", ">", n),
			nested("vector<", "int", ", 2147483647>", upTo(r, 20)), "vector<float, 2147483647>")), values
	case 5:
		number := fmt.Sprintf("%s%de%s%d", pick(r, "", "-"), r.Int(), pick(r, "", "-", "+"), r.IntN(upTo(r, 2_147_483_647)))
		return fmt.Sprintf(pick(r, "SELECT * FROM %s WHERE p = 1 AND x = %s ALLOW FILTERING", "INSERT INTO %s (p, c, d, x) VALUES (9, 9, 9, %s)", "SELECT x + %[2]s, i * %[2]s FROM %[1]s WHERE p = 1",
			"SELECT cast(%[2]s as varint), cast(x as varint) FROM %[1]s WHERE p = 1", "SELECT sum(x * %[2]s) FROM %[1]s", "UPDATE %s SET x = %s WHERE p = 9 AND c = 9 AND d = 9"), table, number), values
	case 6:
		// This is a decimal with an arbitrary scale, in its wire form.
		b := binary.BigEndian.AppendUint32(nil, r.Uint32())
		b = append(b, make([]byte, upTo(r, 1<<20))...)
		b[4] = 7
		return fmt.Sprintf(pick(r, "SELECT x + ? FROM %s WHERE p = 0", "SELECT * FROM %s WHERE x > ? ALLOW FILTERING", "SELECT cast(x * ? as text) FROM %s WHERE p = 1", "SELECT toJson(x - ?) FROM %s WHERE p = 2"), table), []*primitive.Value{primitive.NewValue(b)}
	case 7:
		var parts []string
		for range upTo(r, 3000) {
			parts = append(parts, pick(r, "n", "t", "x", "c")+pick(r, " = ", " > ", " != ", " <= ")+fmt.Sprint(r.IntN(9)))
		}
		return fmt.Sprintf("SELECT * FROM %s WHERE %s ALLOW FILTERING", table, strings.Join(parts, " AND ")), values
	default:
		return read(), values
	}
}

// askMuch sends one such statement, or the same one several times concurrently, and may leave.
func askMuch(f *field, r *rand.Rand, s *server) {
	text, values := muchText(r)
	version := pick(r, primitive.ProtocolVersion4, primitive.ProtocolVersion5)
	size, leave := pick(r, int32(0), 1, 100, 5000, 2_000_000_000), time.Duration(0)
	if r.IntN(2) == 0 {
		leave = time.Duration(r.IntN(400)) * time.Millisecond
	}
	prepared := r.IntN(2) == 0
	var wg sync.WaitGroup
	for range pick(r, 1, 1, 8) {
		wg.Go(func() {
			c, err := difftest.Dial(s.cql, version, "", "")
			if err != nil {
				// In front of Cassandra the watch judges whether Cassandra can be reached.
				if s.alive() && !slices.Contains(s.flags, "--cassandra") {
					f.fault("a client cannot connect", "%v", err)
				}
				return
			}
			if leave > 0 {
				defer time.AfterFunc(leave, func() { c.Close() }).Stop()
			} else {
				// The statement may take any time, and the client does not wait for all of it.
				defer time.AfterFunc(10*time.Second, func() { c.Close() }).Stop()
			}
			defer c.Close()
			f.sent.Add(1)
			req := difftest.Request{Query: text, Values: values, PageSize: size}
			var a *difftest.Answer
			if prepared && len(text) < 1<<20 {
				var p *difftest.Answer
				if p, err = c.Prepare(text); err == nil && p.Kind == difftest.Prepared {
					a, err = c.Execute(p, req)
				}
			} else {
				a, err = c.Query(req)
			}
			// Some refusals are exceptions in Cassandra, which answers with their Java names.
			if err == nil && a != nil && a.Kind == difftest.Error && a.Code == primitive.ErrorCodeServerError && !strings.HasPrefix(a.Text, "java.lang.") {
				f.fault("server error", "%.600s (%d values): %v", text, len(values), a)
			}
		})
	}
	wg.Wait()
}

// muchItems draws a DynamoDB request that asks for much.
func muchItems(r *rand.Rand) (operation, body string) {
	table := pick(r, "Plain", "Sharded")
	keys := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(`{"h":{"S":"k%d"},"r":{"N":"%d"}}`, i%5, i)
		}
		return strings.Join(out, ",")
	}
	numbers := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = pick(r, fmt.Sprint(i), fmt.Sprintf("1e%d", i%125), strings.Repeat("9", 38))
		}
		return strings.Join(out, ",")
	}
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err) // a string always encodes
		}
		return string(b)
	}
	switch r.IntN(11) {
	case 0:
		return "BatchGetItem", fmt.Sprintf(`{"RequestItems":{%q:{"Keys":[%s],"ConsistentRead":true}}}`, table, keys(upTo(r, 101)))
	case 1:
		return "TransactGetItems", `{"TransactItems":[` + strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"Get":{"TableName":%q,"Key":%s}},`, table, keys(1)), upTo(r, 101)), ",") + `]}`
	case 2:
		n := upTo(r, 60_000)
		return "ExecuteStatement", fmt.Sprintf(`{"Statement":"SELECT * FROM %s WHERE h IN ['k0','k1','k2'%s] AND r IN [%s]"}`, table, strings.Repeat(",'k3'", n/pick(r, 1, 100, 1000)), numbers(n))
	case 3:
		return "Query", fmt.Sprintf(`{"TableName":%q,"KeyConditionExpression":"h = :h","FilterExpression":%s,"ExpressionAttributeValues":{":h":{"S":"k1"},":n":{"N":"1"}}}`, table,
			quoted(pick(r, strings.Repeat("n = :n OR ", upTo(r, 500))+"n = :n", nested("(", "n = :n", ")", upTo(r, 2000)), nested("NOT ", "n = :n", "", upTo(r, 1000)), "n IN ("+strings.Repeat(":n, ", upTo(r, 1200))+":n)",
				"contains(t, :n) AND size(t"+strings.Repeat(".x", upTo(r, 2000))+") > :n", "l"+strings.Repeat("[0]", upTo(r, 1300))+" = :n")))
	case 4:
		deep := nested(`{"L":[`, `{"S":"x"}`, `]}`, upTo(r, 100_000))
		return pick(r, "PutItem", "UpdateItem"), fmt.Sprintf(`{"TableName":%q,"Item":{"h":{"S":"z"},"r":{"N":"1"},"v":%s}}`, table, deep)
	case 5:
		return "PutItem", fmt.Sprintf(`{"TableName":%q,"Item":{"h":{"S":"z"},"r":{"N":"1"},"v":{"N":"%s%d%se%s%d"}}}`, table, pick(r, "", "-"), r.Int(), strings.Repeat(pick(r, "0", "9"), upTo(r, 1_000_000)), pick(r, "", "-"), r.IntN(upTo(r, 2_000_000_000)))
	case 6:
		return "Scan", fmt.Sprintf(`{"TableName":%q,"Segment":%d,"TotalSegments":1000000}`, table, r.IntN(1000000))
	case 7:
		return "ExecuteStatement", fmt.Sprintf(`{"Statement":%s}`, quoted("SELECT * FROM "+table+" WHERE "+pick(r, strings.Repeat("h = 'a' OR ", upTo(r, 20000))+"h = 'a'", "h = "+nested("[", "1", "]", upTo(r, 100_000)), nested("(", "h = 'a'", ")", upTo(r, 100_000)),
			"h = 'k1' AND r = "+strings.Repeat("1 + ", upTo(r, 5000))+"1", nested("NOT ", "n = 1", "", upTo(r, 50_000)))))
	case 8:
		text := quoted(fmt.Sprintf("SELECT * FROM %s WHERE h IN [%s'x'] AND r IN [%s]", table, strings.Repeat("'k1',", upTo(r, 50)), numbers(upTo(r, 100))))
		return "BatchExecuteStatement", `{"Statements":[` + strings.TrimSuffix(strings.Repeat(`{"Statement":`+text+`},`, 25), ",") + `]}`
	case 9:
		return "Query", fmt.Sprintf(`{"TableName":%q,"KeyConditionExpression":"h = :h","ProjectionExpression":%s,"ExpressionAttributeValues":{":h":{"S":"k1"}}}`, table, quoted(strings.Repeat("l[0], t, n, ", upTo(r, 300))+"r"))
	default:
		sets := make([]string, upTo(r, 400))
		for i := range sets {
			sets[i] = fmt.Sprintf("a%d.b[%d].c = if_not_exists(t, t)", i, i)
		}
		return "UpdateItem", fmt.Sprintf(`{"TableName":%q,"Key":{"h":{"S":"k1"},"r":{"N":"%d"}},"UpdateExpression":%s}`, table, r.IntN(300), quoted(pick(r, "SET ", "REMOVE ")+strings.Join(sets, ", ")))
	}
}

func askManyItems(f *field, r *rand.Rand, s *server) {
	draw := pick(r, muchItems, shapedItems)
	operation, body := draw(r)
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	if r.IntN(2) == 0 {
		client.Timeout = time.Duration(1+r.IntN(200)) * time.Millisecond
	}
	var wg sync.WaitGroup
	for range pick(r, 1, 1, 8) {
		wg.Go(func() {
			f.sent.Add(1)
			resp, err := client.Do(itemsRequest(s, operation, body))
			if err != nil {
				return // the client has left, or the server is gone, which others check
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			// If the memory budget is used up, the server refuses requests that need much memory: SDKs repeat
			// them.
			busy := resp.StatusCode == http.StatusServiceUnavailable && bytes.Contains(text, []byte("too many long requests"))
			if err == nil && resp.StatusCode >= 500 && !busy {
				f.fault("server error", "%s %.600s: %d %.600s", operation, body, resp.StatusCode, text)
			}
		})
	}
	wg.Wait()
}

// itemsRequest returns a DynamoDB request with a signature that nobody checks.
func itemsRequest(s *server, operation, body string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, "http://"+s.dynamo+"/", strings.NewReader(body))
	if err != nil {
		panic(err) // it is well formed
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00")
	return req
}
