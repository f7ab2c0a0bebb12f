// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/internal/testkit/planted"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/orders"
)

// advised runs advise on planted data.
func advised(t *testing.T, s *planted.Set, target string) (*advice.Report, *planted.Table) {
	t.Helper()
	r, data, _ := advisedFile(t, s, target)
	return r, data
}

// connect is a session of a driver with a door.
func connect(t *testing.T, addr string) *gocql.Session {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	c := gocql.NewCluster(host)
	c.Port, _ = strconv.Atoi(port)
	c.Timeout, c.ConnectTimeout = time.Minute, time.Minute
	c.Logger = gocql.NewLogger(gocql.LogLevelNone)
	session, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

// serve must accept the tables that are advised for Cassandra, and the test then loads the data
// without losing a row.
func TestAdvisedTablesKeepEveryRow(t *testing.T) {
	addr, _, _ := start(t)
	session := connect(t, addr)
	ctx := context.Background()
	// One of each kind of design: with an id added, a bucket, shards, further tables.
	kinds := []string{"collision", "unbounded", "low cardinality", "date key", "invoices by country"}
	for i := range planted.Sets {
		set := &planted.Sets[i]
		if !slices.Contains(kinds, set.Name) {
			continue
		}
		target := set.Target
		if target == "" || target == "dynamodb" {
			target = "cassandra"
		}
		t.Run(set.Name, func(t *testing.T) {
			r, data := advised(t, set, target)
			keyspace := fmt.Sprintf("planted%d", i)
			must := func(q string) {
				t.Helper()
				if err := session.Query(q).ExecContext(ctx); err != nil {
					t.Fatalf("%v\n%s", err, q)
				}
			}
			must("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			for _, ddl := range r.Verdict.DDL {
				text := strings.TrimSuffix(ddl, ";")
				parsed, err := syntax.Parse(text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				create := parsed.(*syntax.CreateTable)
				create.Name.Keyspace = keyspace
				must(syntax.Print(create))
				load(t, session, r, data, create)
				var rows int64
				if err := session.Query("SELECT count(*) FROM "+keyspace+"."+create.Name.Name).ScanContext(ctx, &rows); err != nil {
					t.Fatal(err)
				}
				if rows != int64(len(data.Rows)) {
					t.Errorf("%d rows of %d\n%s", rows, len(data.Rows), ddl)
				}
			}
		})
	}
}

// load inserts the rows, and what the verdict adds to them.
func load(t *testing.T, session *gocql.Session, r *advice.Report, data *planted.Table, create *syntax.CreateTable) {
	t.Helper()
	var names, marks []string
	types := make([]*value.Type, len(create.Columns))
	for i, c := range create.Columns {
		names, marks = append(names, string(syntax.AppendIdent(nil, c.Name))), append(marks, "?")
		types[i] = value.Named(c.Type.Name.Name)
	}
	insert := fmt.Sprintf("INSERT INTO %s.%s (%s) VALUES (%s)", create.Name.Keyspace, create.Name.Name, strings.Join(names, ", "), strings.Join(marks, ", "))
	var g errgroup.Group
	g.SetLimit(16)
	for _, row := range data.Rows {
		values := make([]any, len(names))
		for i, c := range create.Columns {
			switch at := slices.Index(data.Names, c.Name); {
			case at >= 0:
				v, err := types[i].FromString(row[at])
				if err != nil {
					t.Fatalf("%s %q: %v", c.Name, row[at], err)
				}
				values[i] = cell(v)
			case types[i].Kind == value.Timeuuid:
				id := gocql.TimeUUID()
				values[i] = cell(id[:])
			default: // a time bucket
				b := r.Verdict.Bucket
				when, err := time.Parse(time.RFC3339, row[slices.Index(data.Names, b.Of)])
				if err != nil {
					t.Fatal(err)
				}
				v, err := types[i].FromString(bucketStart(when, b.Unit))
				if err != nil {
					t.Fatal(err)
				}
				values[i] = cell(v)
			}
		}
		g.Go(func() error { return session.Query(insert, values...).Exec() })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// bucketStart is the beginning of a period as CQL reads it.
func bucketStart(when time.Time, unit string) string {
	switch when = when.UTC(); unit {
	case "hour":
		return when.Truncate(time.Hour).Format(time.RFC3339)
	case "month":
		return when.Format("2006-01") + "-01"
	case "year":
		return when.Format("2006") + "-01-01"
	}
	return when.Format(time.DateOnly)
}

// cell is a serialized value.
type cell []byte

func (c cell) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return c, nil }

// serve's DynamoDB door must accept the tables that are advised for DynamoDB.
func TestAdvisedCreateTable(t *testing.T) {
	addr := startDynamoDB(t)
	for i := range planted.Sets {
		set := &planted.Sets[i]
		t.Run(set.Name, func(t *testing.T) {
			r, _ := advised(t, set, "dynamodb")
			var body map[string]any
			if err := json.Unmarshal(r.Verdict.CreateTable, &body); err != nil {
				t.Fatal(err)
			}
			body["TableName"] = fmt.Sprintf("planted%d", i)
			status, answer := createTable(t, addr, body)
			if strings.Contains(answer, "the tag write-sharding.index.") {
				delete(body, "Tags") // indexes are not sharded yet: all else is to be right
				status, answer = createTable(t, addr, body)
			}
			if status != http.StatusOK {
				t.Errorf("%d: %s\n%s", status, answer, r.Verdict.CreateTable)
			}
		})
	}
}

func createTable(t *testing.T, addr string, body map[string]any) (status int, answer string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.CreateTable")
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20240101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=b")
	req.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

// advise must print the example of docs/workbench.md.
func TestAdviseExample(t *testing.T) {
	doc, err := os.ReadFile("../../docs/workbench.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "<!-- the example: a test runs it -->\n```\n")
	queries, rest, ok2 := strings.Cut(rest, "```")
	_, rest, ok3 := strings.Cut(rest, "\n```\n")
	want, _, ok4 := strings.Cut(rest, "```")
	if !ok || !ok2 || !ok3 || !ok4 {
		t.Fatal("the example is not where it was")
	}
	dir := t.TempDir()
	data, file := filepath.Join(dir, "orders.csv"), filepath.Join(dir, "queries.txt")
	if err := os.WriteFile(file, []byte(queries), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(data)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "code,user,uuid")
	for o := range orders.Orders(1) {
		fmt.Fprintf(f, "%d,%d,%s\n", o.Code, o.User, o.UUID)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"advise", data, "--queries", file, "--target", "keyspaces"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	if !strings.Contains(out.String(), want) {
		t.Errorf("the example says\n%s\nadvise says\n%s", want, &out)
	}
}

// advise reads a live table by its schema, the whole table or a part of it.
func TestAdviseLiveTable(t *testing.T) {
	addr, _, _ := start(t)
	session := connect(t, addr)
	must := func(q string, values ...any) {
		t.Helper()
		if err := session.Query(q, values...).Exec(); err != nil {
			t.Fatalf("%v\n%s", err, q)
		}
	}
	must("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	must("CREATE TABLE shop.visits (customer text, at timestamp, pages list<text>, n varint, PRIMARY KEY (customer, at))")
	const rows = 3000
	var g errgroup.Group
	g.SetLimit(16)
	for i := range rows {
		g.Go(func() error {
			return session.Query("INSERT INTO shop.visits (customer, at, pages, n) VALUES (?, ?, ['a'], 7)",
				fmt.Sprintf("c%d", i%300), time.Date(2024, 5, 1, 0, i, 0, 0, time.UTC)).Exec()
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(file, []byte("SELECT * FROM shop.visits WHERE customer = ? -- 10/s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(more ...string) *advice.Report {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(append([]string{"advise", "cql://" + addr + "/shop.visits", "--queries", file, "--json"}, more...), &out, &errs); code != 0 {
			t.Fatalf("exit %d: %s", code, &errs)
		}
		r := &advice.Report{}
		if err := json.Unmarshal(out.Bytes(), r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := read()
	if r.Rows != rows || !slices.Equal(r.Verdict.PartitionKey, []string{"customer"}) || !slices.Equal(r.Verdict.Clustering, []string{"at"}) {
		t.Errorf("%d rows, key %v, %v", r.Rows, r.Verdict.PartitionKey, r.Verdict.Clustering)
	}
	types := make(map[string]string)
	for _, c := range r.Columns {
		types[c.Name] = c.Type
	}
	if types["n"] != "varint" || types["at"] != "timestamp" || types["pages"] != "list<text>" {
		t.Errorf("types %v", types)
	}
	if part := read("--sample", "0.3"); part.Rows < rows/10 || part.Rows > rows*6/10 {
		t.Errorf("a sample of 0.3 has %d of %d rows", part.Rows, rows)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"advise", "cql://" + addr + "/shop.visit", "--queries", file}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "hint: did you mean visits?") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

// startDynamoDB runs serve and returns the address of its DynamoDB door.
func startDynamoDB(t *testing.T) string {
	t.Helper()
	addr := loopback.FreeAddr(t)
	s := &serveCmd{ListenCQL: "127.0.0.1:0", ListenHTTP: "off", ListenDynamoDB: addr, Data: t.TempDir(), Drain: time.Second, LogLevel: "error"}
	serveInBackground(t, s, &stdio{io.Discard, io.Discard})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if nc, err := net.Dial("tcp", addr); err == nil {
			nc.Close()
			return addr
		}
	}
	t.Fatal("it does not listen")
	return ""
}

// serveInBackground serves until the test is over, and then waits for the end. The directory of the
// data, a temporary one made before, is removed after that.
func serveInBackground(t *testing.T, s *serveCmd, std *stdio) {
	end := make(chan error, 1)
	go func() { end <- s.serve(t.Context(), std, make(chan os.Signal)) }()
	t.Cleanup(func() { _ = wait(t, end) }) // its end is tested elsewhere
}
