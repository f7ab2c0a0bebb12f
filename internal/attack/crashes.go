// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// attackCrashes kills a server while clients write at both doors, damages its files, and looks for
// the acknowledged writes.
func attackCrashes(f *field) error {
	for n := 0; !f.over(); n++ {
		if err := f.life(n); err != nil {
			return err
		}
	}
	return nil
}

// acknowledged holds the rows and items that a server has acknowledged: the greatest version of
// each key, by table.
type acknowledged struct {
	mu  sync.Mutex
	of  map[string]int
	now map[string]int // sent, and perhaps written
}

func (a *acknowledged) sends(key string, version int) {
	a.mu.Lock()
	a.now[key] = version
	a.mu.Unlock()
}

func (a *acknowledged) has(key string, version int) {
	a.mu.Lock()
	a.of[key] = max(a.of[key], version)
	a.mu.Unlock()
}

// life runs the life of one data directory: some crashes, a stop, and damage.
func (f *field) life(n int) error {
	s, err := f.newServer(fmt.Sprintf("crashes-%d", n))
	if err != nil {
		return err
	}
	defer func() {
		s.kill()
		s.guard.Close()
		os.RemoveAll(s.data)
	}()
	if err := f.makeCrashTables(s); err != nil {
		return err
	}
	acks := &acknowledged{of: map[string]int{}, now: map[string]int{}}
	version := 0
	for range 2 + f.IntN(4) {
		f.writeUntilKilled(s, acks, &version, true)
		if err := s.start(f.ctx, f.binary); err != nil {
			if f.ctx.Err() != nil {
				return nil
			}
			f.fault("no start after a crash", "%v\n%s", err, s.printed())
			return nil
		}
		if lost := f.lost(s, acks); lost != "" {
			f.fault("acknowledged writes are lost", "after kill -9: %s", lost)
		}
		if f.over() {
			return nil
		}
	}
	f.writeUntilKilled(s, acks, &version, false)
	whole := s.data
	for range 12 {
		if f.over() {
			break
		}
		s.data = whole + "-damaged"
		if err := copyTree(s.data, whole); err != nil {
			return err
		}
		what, err := f.damage(s.data)
		if err != nil {
			return err
		}
		f.sent.Add(1)
		switch err := s.start(f.ctx, f.binary); {
		case err == nil:
			if lost := f.lost(s, acks); lost != "" {
				f.fault("damage is not noticed", "%s: %s", what, lost)
			}
			s.kill()
		case errors.Is(err, errRefused):
			if text := s.printed(); strings.Contains(text, "goroutine ") {
				f.fault("damage ends in a stack trace", "%s\n%s", what, text)
			}
		case f.ctx.Err() == nil:
			f.fault("damage", "%s: %v", what, err)
		}
		os.RemoveAll(s.data)
		os.Remove(s.log)
	}
	s.data = whole
	return nil
}

func (f *field) makeCrashTables(s *server) error {
	c, err := difftest.Dial(s.cql, primitive.ProtocolVersion5, "", "")
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range []string{workKeyspace, "CREATE TABLE w.plain (p int, c int, v int, b blob, PRIMARY KEY (p, c))",
		"CREATE TABLE w.sharded (p int, c int, v int, b blob, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '7'}"} {
		if a, err := c.Query(difftest.Request{Query: text}); err != nil || a.Kind == difftest.Error {
			return fmt.Errorf("%s: %v %w", text, a, err)
		}
	}
	for name, tags := range map[string]string{"Plain": "", "Sharded": `,"Tags":[{"Key":"write-sharding","Value":"shards=7"}]`} {
		if a, err := s.items().Do("CreateTable", fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]%s}`, name, tags)); err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("CreateTable: %v %w", a, err)
		}
	}
	return nil
}

// writeUntilKilled runs writers at both doors, kills or stops the server at a random moment, and
// returns when the writers have ended.
func (f *field) writeUntilKilled(s *server, acks *acknowledged, version *int, crash bool) {
	var wg sync.WaitGroup
	for range 6 {
		r, base := f.fork(), *version
		*version += 1_000_000
		items := r.IntN(3) == 0
		wg.Go(func() {
			if items {
				writeItems(f, r, s, acks, base)
			} else {
				writeRows(f, r, s, acks, base)
			}
		})
	}
	time.Sleep(time.Duration(50+f.IntN(3000)) * time.Millisecond)
	if crash {
		s.kill()
	} else {
		s.stop()
	}
	wg.Wait()
}

// writeRows writes rows. Only one writer of a round writes each key, because the key contains the
// writer's base.
func writeRows(f *field, r *rand.Rand, s *server, acks *acknowledged, base int) {
	c, err := difftest.Dial(s.cql, pick(r, primitive.ProtocolVersion4, primitive.ProtocolVersion5), "", "")
	if err != nil {
		return
	}
	defer c.Close()
	for n := base; ; n++ {
		table, ck := pick(r, "plain", "sharded"), base+r.IntN(50)
		key := fmt.Sprintf("w.%s %d", table, ck)
		acks.sends(key, n)
		text := fmt.Sprintf("INSERT INTO w.%s (p, c, v, b) VALUES (1, %d, %d, ?)", table, ck, n)
		value := primitive.NewValue(make([]byte, upTo(r, 30_000)))
		switch r.IntN(5) {
		case 0:
			text = fmt.Sprintf("BEGIN BATCH INSERT INTO w.%s (p, c, v) VALUES (1, %d, %d); INSERT INTO w.%s (p, c, b) VALUES (2, %d, ?); APPLY BATCH", table, ck, n, table, ck)
		case 1:
			text = fmt.Sprintf("UPDATE w.%s SET v = %d, b = ? WHERE p = 1 AND c = %d IF v != %d", table, n, ck, n)
		}
		a, err := c.Query(difftest.Request{Query: text, Values: []*primitive.Value{value}})
		if err != nil {
			return
		}
		f.sent.Add(1)
		if a.Kind != difftest.Error {
			acks.has(key, n)
		}
	}
}

func writeItems(f *field, r *rand.Rand, s *server, acks *acknowledged, base int) {
	t := s.items()
	for n := base; ; n++ {
		table, ck := pick(r, "Plain", "Sharded"), base+r.IntN(50)
		key := fmt.Sprintf("%s %d", table, ck)
		acks.sends(key, n)
		item := fmt.Sprintf(`{"h":{"S":"a"},"r":{"N":"%d"},"v":{"N":"%d"},"t":{"S":"%s"}}`, ck, n, strings.Repeat("x", upTo(r, 30_000)))
		operation, body := "PutItem", fmt.Sprintf(`{"TableName":%q,"Item":%s}`, table, item)
		switch r.IntN(4) {
		case 0:
			operation, body = "TransactWriteItems", fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":%q,"Item":%s}}]}`, table, item)
		case 1:
			operation, body = "BatchWriteItem", fmt.Sprintf(`{"RequestItems":{%q:[{"PutRequest":{"Item":%s}}]}}`, table, item)
		case 2:
			operation, body = "UpdateItem", fmt.Sprintf(`{"TableName":%q,"Key":{"h":{"S":"a"},"r":{"N":"%d"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"N":"%d"}}}`, table, ck, n)
		}
		a, err := t.Do(operation, body)
		if err != nil {
			return
		}
		f.sent.Add(1)
		if a.Status == http.StatusOK {
			acks.has(key, n)
		}
	}
}

// lost describes acknowledged writes that are missing and whose read is not refused. Errors of
// reads are answers, because a read may meet the damage.
func (f *field) lost(s *server, acks *acknowledged) string {
	there := map[string]int{}
	refused := map[string]bool{}
	c, err := difftest.Dial(s.cql, primitive.ProtocolVersion5, "", "")
	if err != nil {
		return fmt.Sprintf("nobody can connect: %v", err)
	}
	defer c.Close()
	for _, table := range []string{"plain", "sharded"} {
		for state := []byte(nil); ; {
			a, err := c.Query(difftest.Request{Query: "SELECT c, v, b FROM w." + table + " WHERE p = 1", PageSize: 200, State: state})
			if err != nil {
				return fmt.Sprintf("reading w.%s ends with %v", table, err)
			}
			if a.Kind != difftest.Rows {
				refused["w."+table] = true
				if strings.Contains(a.Text, "does not exist") {
					return fmt.Sprintf("w.%s: %v", table, a)
				}
				break
			}
			for _, row := range a.Rows {
				there[fmt.Sprintf("w.%s %d", table, number(row[0]))] = number(row[1])
			}
			if state = a.State; state == nil {
				break
			}
		}
	}
	for _, table := range []string{"Plain", "Sharded"} {
		for start := ""; ; {
			a, err := s.items().Do("Query", fmt.Sprintf(`{"TableName":%q,"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}},"ConsistentRead":true%s}`, table, start))
			if err != nil {
				return fmt.Sprintf("reading %s ends with %v", table, err)
			}
			if a.Status != http.StatusOK {
				refused[table] = true
				if strings.Contains(fmt.Sprint(a.Body), "ResourceNotFound") {
					return fmt.Sprintf("%s: %v", table, a)
				}
				break
			}
			m, _ := a.Body.(map[string]any)
			items, _ := m["Items"].([]any)
			for _, it := range items {
				there[fmt.Sprintf("%s %d", table, member(it, "r"))] = member(it, "v")
			}
			if m["LastEvaluatedKey"] == nil {
				break
			}
			start = fmt.Sprintf(`,"ExclusiveStartKey":{"h":{"S":"a"},"r":{"N":"%d"}}`, member(m["LastEvaluatedKey"], "r"))
		}
	}
	missing, first := 0, ""
	acks.mu.Lock()
	defer acks.mu.Unlock()
	for key, version := range acks.of {
		table, _, _ := strings.Cut(key, " ")
		if v, ok := there[key]; !refused[table] && (!ok || v < version || v > acks.now[key]) {
			missing++
			first = fmt.Sprintf("%s has version %d (there: %v); acknowledged was %d, and %d sent", key, v, ok, version, acks.now[key])
		}
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d: %s", missing, len(acks.of), first)
}

func number(b []byte) int {
	n := 0
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

func member(item any, name string) int {
	fields, _ := item.(map[string]any)
	typed, _ := fields[name].(map[string]any)
	n := 0
	fmt.Sscan(fmt.Sprint(typed["N"]), &n)
	return n
}

// damage changes a file of a stopped store.
func (f *field) damage(dir string) (string, error) {
	var files []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	path := pick(f.Rand, files...)
	// There are few small files; choose so that each is met.
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	name := path[len(dir):]
	if len(b) == 0 || f.IntN(8) == 0 {
		return name + " is removed", os.Remove(path)
	}
	at := f.IntN(len(b))
	what := ""
	switch f.IntN(4) {
	case 0:
		what, b = fmt.Sprintf("%s of %d bytes is cut at %d", name, len(b), at), b[:at]
	case 1:
		n := min(len(b)-at, 1+f.IntN(8))
		for i := range n {
			b[at+i] ^= byte(1 + f.IntN(255))
		}
		what = fmt.Sprintf("%s: %d of %d bytes are changed at %d", name, n, len(b), at)
	case 2:
		n := min(len(b)-at, upTo(f.Rand, 8192))
		changed := false
		for i := range n {
			changed = changed || b[at+i] != 0
			b[at+i] = 0
		}
		what = fmt.Sprintf("%s: %d of %d bytes are zeroed at %d", name, n, len(b), at)
		if !changed {
			what += " (they were)"
		}
	default:
		other, err := os.ReadFile(pick(f.Rand, files...))
		if err != nil {
			return "", err
		}
		what, b = fmt.Sprintf("%s has another file's content", name), other
	}
	return what, os.WriteFile(path, b, 0o600)
}

func copyTree(to, from string) error {
	return filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		target := to + path[len(from):]
		if info.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(target)
		if err != nil {
			return err
		}
		defer out.Close()
		_, err = io.Copy(out, in)
		return err
	})
}
