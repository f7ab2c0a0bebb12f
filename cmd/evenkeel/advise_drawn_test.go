// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	doors "github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/internal/testkit/planted"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// advisedDrawn asks the command for advice about a drawn set.
func advisedDrawn(t *testing.T, s *drawn.Set) *advice.Report {
	t.Helper()
	dir := t.TempDir()
	var data bytes.Buffer
	if err := s.WriteCSV(&data); err != nil {
		t.Fatal(err)
	}
	file, asked := filepath.Join(dir, "data.csv"), filepath.Join(dir, "queries.txt")
	for name, text := range map[string][]byte{file: data.Bytes(), asked: []byte(s.Queries)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	a := &adviseCmd{Data: file, Queries: asked, Target: s.Target, Table: s.Table, JSON: true, Region: "us-east-1"}
	a.Format, a.Header = "auto", "auto"
	if err := a.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := a.Run(&stdio{&out, &errs}); err != nil {
		t.Fatalf("%s: %v\n%s", s.What, err, errs.String())
	}
	r := new(advice.Report)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDrawnStatementsRun executes the statements that reports print on the embedded engine. It
// creates the tables, inserts the rows of a set, and executes each query with the values of a row.
// This row must be among the answers.
func TestDrawnStatementsRun(t *testing.T) {
	addr, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }()
	session := connect(t, addr)
	cql, dynamo := 0, 0
	var sets []*drawn.Set
	timelines, withBatches := 0, 0 // the layout keeps the buckets of the timelines
	for seed := uint64(1); seed <= 16 || timelines < 3 && seed < 200; seed++ {
		s := drawn.New(seed)
		kept := strings.HasPrefix(s.What, "a timeline on cassandra") && s.Truth.Bucket != ""
		inBatches := withBatches < 5 && s.Target != "dynamodb" && strings.Contains(s.Queries, " BATCH")
		if seed <= 16 || kept || inBatches {
			sets = append(sets, s)
		}
		if inBatches {
			withBatches++
		}
		if kept {
			timelines++
		}
	}
	for i := range planted.Sets {
		p := &planted.Sets[i]
		target := p.Target
		if target == "" {
			target = "cassandra"
		}
		rows := p.Rows()
		s := drawn.Given(p.Name, "t", target, p.Queries, rows.Names, rows.Rows)
		if qs, err := queries.Parse(p.Queries); err == nil && qs[0].Table != "" {
			s.Table = qs[0].Table
		}
		sets = append(sets, s)
	}
	sets = append(sets, oneHotKey(), fullNodes(), hotInBuckets())
	sets = append(sets, inBatches("a fence", "BEGIN BATCH", " IF owner = ?"), inBatches("logged batches", "BEGIN BATCH", ""), inBatches("unlogged batches", "BEGIN UNLOGGED BATCH", ""), inOneShard())
	for n, s := range sets {
		r := advisedDrawn(t, s)
		t.Run(fmt.Sprint(n+1, " ", s.What), func(t *testing.T) {
			if t.Failed() {
				return
			}
			if s.Target == "dynamodb" {
				dynamo++
				tryRequests(t, s, r)
			} else {
				cql++
				tryStatements(t, session, s, r, fmt.Sprintf("drawn%d", n))
			}
			if t.Failed() {
				t.Logf("%s\n%s\n%s", s.What, s.Queries, strings.Join(r.Verdict.DDL, "\n"))
			}
		})
	}
	if changes["UPDATE"] < 3 || changes["DELETE"] < 3 || changes["UpdateItem"] < 2 || changes["DeleteItem"] < 2 {
		t.Errorf("too few statements that change rows: %v", changes)
	}
	if buckets < 2 {
		t.Errorf("%d sets have buckets that the layout keeps: too few", buckets)
	}
	if batches < 16 || fences < 3 || behind < 1 || sharedShards < 1 {
		t.Errorf("%d batches, %d with conditions, %d behind them, %d in a shard: too few", batches, fences, behind, sharedShards)
	}
	if keyShards == 0 {
		t.Error("no set has a key with shards of its own")
	}
	if ownTables == 0 {
		t.Error("no set has a key with a table of its own")
	}
	if valuesNamed == 0 {
		t.Error("no statement names all values of a column")
	}
	if cql < 5 || dynamo < 5 {
		t.Errorf("%d sets for CQL and %d for DynamoDB: too few of one", cql, dynamo)
	}
}

// oneHotKey is a set of which one key alone needs shards.
func oneHotKey() *drawn.Set {
	var rows [][]string
	for i := range 20_000 {
		user := fmt.Sprint("u", i*7919%2003)
		if i%5 < 2 {
			user = "o'hara"
		}
		rows = append(rows, []string{fmt.Sprintf("%x", uint64(i)*0x9e3779b97f4a7c15), user})
	}
	asked := "SELECT * FROM shop.orders WHERE user_id = ? LIMIT 100 -- 400/s\nSELECT * FROM shop.orders WHERE user_id = ? AND order_id = ? -- 100/s\nINSERT INTO shop.orders (order_id, user_id) VALUES (?, ?) -- 9k/s\n"
	return drawn.Given("one hot key", "shop.orders", "keyspaces", asked, []string{"order_id", "user_id"}, rows)
}

// fullNodes is a set whose nodes bear no further table, so that a query names all values of a column.
func fullNodes() *drawn.Set {
	var rows [][]string
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 20_000 {
		at = at.Add(7 * time.Millisecond)
		rows = append(rows, []string{fmt.Sprint("svc", i*7919%41), at.Format("2006-01-02T15:04:05.000Z"), []string{"INFO", "ERROR", "INFO", "WARN"}[i%4], fmt.Sprint(i)})
	}
	asked := "SELECT * FROM ops.logs WHERE service = ? AND logged_at >= ? AND logged_at < ? -- 40/s\nSELECT * FROM ops.logs WHERE service = ? AND level IN (?, 'WARN') AND logged_at >= ? ORDER BY logged_at DESC LIMIT 200 -- 100/s\nINSERT INTO ops.logs (service, logged_at, level, seq) VALUES (?, ?, ?, ?) -- 20k/s\n"
	return drawn.Given("full nodes", "ops.logs", "cassandra", asked, []string{"service", "logged_at", "level", "seq"}, rows)
}

// hotInBuckets is a set of which one key alone needs shards in each of its buckets of time.
func hotInBuckets() *drawn.Set {
	var rows [][]string
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 20_000 {
		at = at.Add(700 * time.Millisecond)
		host := fmt.Sprint("h", i*7919%401)
		if i%5 < 2 {
			host = "big"
		}
		rows = append(rows, []string{host, at.Format("2006-01-02T15:04:05.000Z"), fmt.Sprintf("%x", uint64(i)*0x9e3779b97f4a7c15)})
	}
	asked := "SELECT * FROM cdn.logs WHERE host = ? AND at >= ? AND at < ? -- 30/s\nINSERT INTO cdn.logs (host, at, seq) VALUES (?, ?, ?) -- 15k/s\n"
	return drawn.Given("one hot key in buckets", "cdn.logs", "cassandra", asked, []string{"host", "at", "seq"}, rows)
}

// tried is how many rows of a set are inserted.
const tried = 40

// columnValues are a row's values as the table's columns have them.
func columnValues(t *testing.T, s *drawn.Set, r *advice.Report, row []string, types map[string]*value.Type) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	for column, typ := range types {
		text := ""
		if at := slices.Index(s.Names, column); at >= 0 {
			text = row[at]
			if text == "" {
				continue
			}
			if when, ok := s.Instant(column, text); ok && typ.Kind == value.Timestamp {
				text = when.UTC().Format("2006-01-02T15:04:05.000Z")
			} else if ok && typ.Kind == value.Date {
				text = when.UTC().Format(time.DateOnly)
			}
		} else if b := bucketOf(r, column); b != nil {
			when, _ := s.Made(b.Of, row[slices.Index(s.Names, b.Of)])
			text = bucketStart(when, b.Unit)
		} else {
			continue // an id, which the statement makes
		}
		v, err := typ.FromString(text)
		if err != nil {
			t.Fatalf("%s %q: %v", column, text, err)
		}
		out[column] = v
	}
	return out
}

func tryStatements(t *testing.T, session *gocql.Session, s *drawn.Set, r *advice.Report, keyspace string) {
	execute(t, session, "CREATE KEYSPACE "+keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	into := func(text string) string { // the user's keyspace is this test's
		if own, _, two := strings.Cut(s.Table, "."); two {
			return strings.ReplaceAll(text, own+".", keyspace+".")
		}
		return regexp.MustCompile(`\b(TABLE|INTO|FROM|UPDATE) `).ReplaceAllString(text, "$1 "+keyspace+".")
	}
	if r.Verdict.Strategy == "time" {
		buckets++
	}
	if slices.ContainsFunc(r.Verdict.Statements, func(x advice.Statement) bool { return strings.Contains(x.Note, "name all ") }) {
		valuesNamed++
	}
	types := make(map[string]*value.Type)
	for _, ddl := range r.Verdict.DDL {
		execute(t, session, into(ddl))
		tree, err := syntax.Parse(strings.TrimSuffix(ddl, ";"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range tree.(*syntax.CreateTable).Columns {
			types[c.Name] = value.Named(c.Type.Name.Name)
		}
	}
	if k := r.Verdict.KeyShards; k != nil { // the table whose keys have fewer shards
		keyShards++
		execute(t, session, "CREATE KEYSPACE "+keyspace+"k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		execute(t, session, strings.Replace(into(k.DDL), "TABLE "+keyspace+".", "TABLE "+keyspace+"k.", 1))
		if k.OwnTable != "" {
			ownTables++
			execute(t, session, strings.Replace(into(k.OwnTable), "TABLE "+keyspace+".", "TABLE "+keyspace+"k.", 1))
		}
	}
	var rows [][]string
	for _, row := range s.Rows {
		if len(rows) < tried && !slices.Contains(row, "") {
			rows = append(rows, row)
		}
	}
	// stored is a row as the table has it, with the columns that were added.
	stored := func(table string, row []string) map[string]any {
		iter := session.Query("SELECT * FROM " + table).PageSize(100).Iter()
		defer iter.Close()
		var found map[string]any
		for {
			m := make(map[string]any)
			if !iter.MapScan(m) {
				return found
			}
			if sameRow(s, row, m) {
				found = m
			}
		}
	}
	ask := func(x *advice.Statement, row []string) (rows int, err error) {
		columns := columnValues(t, s, r, row, types)
		table := tableOf(t, x.Text)
		plain := strings.ReplaceAll(x.Text, `"`, "") // names with capitals are quoted
		set := ""
		if tree, _ := syntax.Parse(strings.TrimSuffix(x.Text, ";")); tree != nil {
			if u, is := tree.(*syntax.Update); is {
				set = u.Set[0].Column
			}
		}
		var bound []any
		ranges := make(map[string]bool)
		for _, b := range x.Binds {
			v, known := columns[b]
			switch {
			case !known: // an added column: read the row first, as the note says
				bound = append(bound, stored(into("FROM " + table)[len("FROM "):], row)[b])
				continue
			case strings.HasPrefix(x.Text, "DELETE") && strings.Contains(plain, b+" < ?"), ranges[b]: // until a greater one
				switch typ := types[b]; typ.Kind {
				case value.Text:
					v = append(slices.Clone(v), '~')
				case value.UUID:
					v = slices.Clone(v)
					v[len(v)-1] |= 0x0f
					v[len(v)-2]++
				default:
					v, _ = typ.FromString(fmt.Sprint(typ.Int64(v) + 1))
				}
			case strings.Contains(plain, b+" > ?"): // from a lesser one
				if typ := types[b]; typ.Kind == value.Text {
					v = v[:len(v)-1]
				} else {
					v, _ = typ.FromString(fmt.Sprint(typ.Int64(v) - 1))
				}
			case b == set:
				v, _ = types[b].FromString("77")
			}
			ranges[b] = true
			bound = append(bound, cell(v))
		}
		query := session.Query(into(strings.TrimSuffix(x.Text, ";")), bound...)
		if strings.Contains(x.Note, "with paging disabled") {
			query = query.PageSize(0)
		}
		iter := query.Iter()
		for {
			m := make(map[string]any)
			if !iter.MapScan(m) {
				break
			}
			rows++
		}
		return rows, iter.Close()
	}
	count := func(table, where string) (n int) {
		if err := session.Query("SELECT count(*) FROM " + table + where).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	for _, verb := range []string{"INSERT", "SELECT", "UPDATE", "DELETE"} {
		if verb == "UPDATE" {
			tryBatches(t, session, s, r, types, rows, into, stored)
		}
		for i := range r.Verdict.Statements {
			x := &r.Verdict.Statements[i]
			if !strings.HasPrefix(x.Text, verb) {
				continue
			}
			table := into("FROM " + tableOf(t, x.Text))[len("FROM "):]
			before, deleted := 0, 0
			if verb == "UPDATE" || verb == "DELETE" {
				changes[verb]++
				before = count(table, "")
			}
			for n, row := range rows {
				if verb != "INSERT" && n%10 > 0 {
					continue
				}
				if verb == "DELETE" && stored(table, row) == nil { // with an earlier one
					continue
				}
				got, err := ask(x, row)
				if err != nil {
					t.Errorf("line %d: %s: %v", x.Line, x.Text, err)
					break
				}
				switch {
				case verb == "SELECT" && got == 0:
					t.Errorf("line %d: %s: no row is found", x.Line, x.Text)
				case verb == "UPDATE" && !changed(x, stored(table, row)):
					t.Errorf("line %d: %s: the row is as it was", x.Line, x.Text)
				case verb == "UPDATE" && count(table, "") != before:
					t.Errorf("line %d: %s: %d rows, %d before", x.Line, x.Text, count(table, ""), before)
				case verb == "DELETE" && stored(table, row) != nil:
					t.Errorf("line %d: %s: the row is there", x.Line, x.Text)
				default:
					deleted++
					continue
				}
				break
			}
			if verb == "DELETE" && deleted > 0 && count(table, "") >= before {
				t.Errorf("line %d: %s: nothing is deleted", x.Line, x.Text)
			}
		}
	}
}

// keyShards is how many sets have keys with shards of their own, ownTables how many of them have a
// table for such a key, buckets how many have
// buckets that the layout keeps, and valuesNamed how many have statements that name all
// values of a column.
var keyShards, ownTables, buckets, valuesNamed int

// changes is how many statements that change rows were tried.
var changes = make(map[string]int)

// tableOf is the table that a statement is about.
func tableOf(t *testing.T, text string) string {
	t.Helper()
	tree, err := syntax.Parse(strings.TrimSuffix(text, ";"))
	if err != nil {
		t.Fatal(err)
	}
	name := syntax.Name{}
	switch x := tree.(type) {
	case *syntax.Select:
		name = x.From
	case *syntax.Insert:
		name = x.Into
	case *syntax.Update:
		name = x.Table
	case *syntax.Delete:
		name = x.From
	}
	if name.Keyspace != "" {
		return name.Keyspace + "." + name.Name
	}
	return name.Name
}

// sameRow says whether a row of a table is one of a set: its texts and numbers are.
func sameRow(s *drawn.Set, row []string, m map[string]any) bool {
	same := 0
	for i, name := range s.Names {
		for _, v := range []any{m[name], m[strings.ToLower(name)]} {
			switch v := v.(type) {
			case string:
				if v != row[i] && v != "77" { // which this test has set
					return false
				}
				same++
			case time.Time:
				if at, ok := s.Instant(name, row[i]); ok && !v.Equal(at.Truncate(time.Millisecond)) && !v.Equal(at.Truncate(24*time.Hour)) {
					return false
				}
				same++
			case gocql.UUID:
				if v.String() != row[i] {
					return false
				}
				same++
			}
		}
	}
	return same > 0
}

// changed says whether a row has what an UPDATE of this test has set.
func changed(x *advice.Statement, m map[string]any) bool {
	tree, _ := syntax.Parse(strings.TrimSuffix(x.Text, ";"))
	return fmt.Sprint(m[tree.(*syntax.Update).Set[0].Column]) == "77"
}

// bucketOf is the bucket of that name, of the table or of a further one; nil where there
// is none.
func bucketOf(r *advice.Report, column string) *advice.BucketColumn {
	if b := r.Verdict.Bucket; b != nil && b.Name == column {
		return b
	}
	for i := range r.Verdict.Extras {
		if b := r.Verdict.Extras[i].Bucket; b != nil && b.Name == column {
			return b
		}
	}
	return nil
}

// tryChanged looks at the item that was changed, and whether it was one.
func tryChanged(t *testing.T, door *doors.Router, x *advice.Statement, verb, request string) {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		t.Fatal(err)
	}
	get, _ := json.Marshal(map[string]any{"TableName": r["TableName"], "Key": r["Key"]})
	answer, err := door.Do(context.Background(), "GetItem", get, nil)
	has := bytes.Contains(answer, []byte(`"Item"`))
	if err != nil || has != (verb == "UpdateItem") {
		t.Errorf("line %d: %s: then %s %v", x.Line, request, answer, err)
	}
	if verb == "UpdateItem" {
		item := new(struct{ Item map[string]any })
		if err := json.Unmarshal(answer, item); err != nil || len(item.Item) <= len(r["Key"].(map[string]any))+1 {
			t.Errorf("line %d: %s: the item was not there before: %s", x.Line, request, answer)
		}
	}
}

var placeholder = regexp.MustCompile(`<[^<>]+>`)

// filledWith puts a row's values in the places of a request. The n-th row gets that number as an
// added id. What does not sort by time is stored in the form that the note names.
func filledWith(s *drawn.Set, r *advice.Report, request, note string, row []string, n int) string {
	return placeholder.ReplaceAllStringFunc(request, func(p string) string {
		column := strings.Trim(p, "<>")
		if at := slices.Index(s.Names, column); at >= 0 {
			if when, ok := s.Instant(column, row[at]); ok && strings.Contains(note, "store "+column+" ") {
				return when.UTC().Format(storedLayout(column, note))
			}
			return row[at]
		}
		if b := bucketOf(r, column); b != nil {
			when, _ := s.Made(b.Of, row[slices.Index(s.Names, b.Of)])
			return bucketStart(when, b.Unit)
		}
		return fmt.Sprintf("00000000-0000-1000-8000-%012d", n)
	})
}

// storedLayout returns the layout of the texts that a note says to store in a column of time.
func storedLayout(column, note string) string {
	_, example, _ := strings.Cut(note, "store "+column+" ")
	example, _, _ = strings.Cut(example, " in place of")
	switch {
	case strings.HasPrefix(example, "as a date"):
		return time.DateOnly
	case strings.Contains(example, "."):
		return "2006-01-02T15:04:05.000Z07:00"
	}
	return time.RFC3339
}

func tryRequests(t *testing.T, s *drawn.Set, r *advice.Report) {
	ctx := context.Background()
	db, err := storage.Open("drawn", storage.Options{FS: vfs.NewMem(), SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store, err := dynamodb.Open(db, dynamodb.Options{SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	door := doors.New(doors.Options{Backend: store, Fanout: 4})
	if err := door.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := door.Do(ctx, "CreateTable", r.Verdict.CreateTable, nil); err != nil {
		t.Fatalf("%v\n%s", err, r.Verdict.CreateTable)
	}
	var rows [][]string
	for _, row := range s.Rows {
		if len(rows) < tried && !slices.Contains(row, "") {
			rows = append(rows, row)
		}
	}
	for _, verb := range []string{"PutItem", "Query", "GetItem", "Scan", "UpdateItem", "DeleteItem"} {
		for i := range r.Verdict.Statements {
			x := &r.Verdict.Statements[i]
			operation, body, _ := strings.Cut(x.Text, " ")
			if operation != verb {
				continue
			}
			for n, row := range rows {
				if verb != "PutItem" && n%10 > 0 {
					continue
				}
				filled := filledWith(s, r, body, x.Note, row, n)
				answer, err := door.Do(ctx, operation, []byte(filled), nil)
				if err != nil {
					t.Errorf("line %d: %s: %v", x.Line, filled, err)
					break
				}
				if verb == "UpdateItem" || verb == "DeleteItem" {
					changes[verb]++
					tryChanged(t, door, x, verb, filled)
					continue
				}
				if verb != "PutItem" && !bytes.Contains(answer, []byte(`"Item"`)) && !bytes.Contains(answer, []byte(`"Items":[{`)) {
					t.Errorf("line %d: %s: no item is found: %s", x.Line, filled, answer)
					break
				}
			}
		}
	}
}
