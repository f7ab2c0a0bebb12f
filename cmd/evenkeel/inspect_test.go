// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/nodetool"
)

// planter fills tables whose partitions are known.
type planter struct {
	*gocql.Session
	t        *testing.T
	keyspace string
}

func plant(t *testing.T, addr, user string) *planter {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := gocql.NewCluster(host)
	c.Port, _ = strconv.Atoi(port)
	c.Timeout, c.ConnectTimeout, c.Consistency = time.Minute, time.Minute, gocql.One
	if user != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: cassandra.Password}
	}
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := &planter{s, t, cassandra.Keyspace(t, "inspect")}
	p.do("CREATE KEYSPACE " + p.keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return p
}

func (p *planter) do(cql string, values ...any) {
	p.t.Helper()
	if err := p.Query(strings.ReplaceAll(cql, "KS", p.keyspace), values...).Exec(); err != nil {
		p.t.Fatalf("%s: %v", cql, err)
	}
}

// fill inserts n rows in batches of a partition's, by partitions.
func (p *planter) fill(cql string, n int, row func(i int) []any) {
	p.t.Helper()
	cql = strings.ReplaceAll(cql, "KS", p.keyspace)
	for i := 0; i < n; {
		b := p.Batch(gocql.UnloggedBatch)
		for ; i < n && b.Size() < 50; i++ {
			b.Query(cql, row(i)...)
		}
		if err := b.Exec(); err != nil {
			p.t.Fatalf("%s: %v", cql, err)
		}
	}
}

// inspected runs the command and reads its JSON.
func inspected(t *testing.T, want int, args ...string) (*inspection.Report, string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append([]string{"inspect", "--json"}, args...), &out, &errs); code != want {
		t.Fatalf("inspect %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, &errs)
	}
	r := &inspection.Report{}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), r); err != nil {
			t.Fatal(err)
		}
	}
	return r, errs.String()
}

// sstables are the bytes of each partition in a flushed table's files.
func sstables(t *testing.T, i *cassandra.Instance, keyspace, table string) map[string]float64 {
	t.Helper()
	text, err := i.Tools().SSTablePartitions(keyspace, table)
	if err != nil {
		t.Fatal(err)
	}
	o, err := nodetool.Parse(text)
	if err != nil || len(o.Partitions) == 0 {
		t.Fatalf("sstablepartitions: %v %.300s", err, text)
	}
	sizes := map[string]float64{}
	for _, p := range o.Partitions {
		sizes[p.Key] += float64(p.Bytes)
	}
	return sizes
}

// TestInspectedBytesAreSSTables inspects planted tables of a real Cassandra, and lets Cassandra
// write them to files. The sizes must be within 5% of those of sstablepartitions.
func TestInspectedBytesAreSSTables(t *testing.T) {
	i := cassandra.Start(t, cassandra.Options{Auth: true})
	p := plant(t, i.Addr(), cassandra.Username)
	p.do("CREATE TABLE KS.logs (server text, at timestamp, level text, message text, n int, tags set<text>, PRIMARY KEY (server, at)) WITH CLUSTERING ORDER BY (at DESC)")
	rows := map[string]int64{}
	for s := range 60 {
		n := 20 + s
		if s == 0 {
			n = 3000
		}
		server := fmt.Sprintf("server-%02d", s)
		rows[server] = int64(n)
		p.fill("INSERT INTO KS.logs (server, at, level, message, n, tags) VALUES (?, ?, ?, ?, ?, ?)", n, func(i int) []any {
			return []any{server, time.UnixMilli(int64(i) * 1000), "INFO", fmt.Sprintf("message number %d of %s", i, server), i, []string{"a", strconv.Itoa(i % 10)}}
		})
	}
	p.do("CREATE TABLE KS.types (d date, region text, seq smallint, bo boolean, ti tinyint, bi bigint, dbl double, dc decimal, vi varint, u uuid, b blob, l list<text>, m map<text, int>, fl frozen<list<int>>, tp frozen<tuple<int, text>>, st text static, PRIMARY KEY ((d, region), seq))")
	p.fill("INSERT INTO KS.types (d, region, seq, bo, ti, bi, dbl, dc, vi, u, b, l, m, fl, tp, st) VALUES ('2024-01-02', ?, ?, true, 7, 1000000, 2.5, 12345.678, 123456789012345678901234567890, 123e4567-e89b-12d3-a456-426614174000, 0x000102030405, ['a', 'bb', 'ccc'], {'k': 1, 'l': 2}, [1, 2, 3], (1, 'two'), 'the static text')", 800, func(i int) []any {
		return []any{[]string{"eu", "us", "asia", "africa"}[i/200], int16(i)}
	})
	p.do("CREATE TABLE KS.counts (page text, day date, n counter, PRIMARY KEY (page, day))")
	for i := range 60 {
		p.do("UPDATE KS.counts SET n = n + 1 WHERE page = ? AND day = ?", fmt.Sprint("page ", i%6), time.Unix(int64(i)*86400, 0))
		if i == 0 { // the timestamps of 16 ms have two bytes, of which a fast machine would make many
			time.Sleep(20 * time.Millisecond)
		}
	}
	p.do("CREATE TABLE KS.expiring (u text, at timeuuid, v text, PRIMARY KEY (u, at)) WITH default_time_to_live = 864000")
	p.fill("INSERT INTO KS.expiring (u, at, v) VALUES (?, ?, ?)", 900, func(i int) []any { return []any{fmt.Sprint("u", i/100), gocql.TimeUUID(), "some value"} })

	p.do("CREATE TABLE KS.keysonly (a text, b int, c bigint, PRIMARY KEY (a, b, c))")
	// CQL can read no time of it, so inspect assumes that it was written evenly since it was
	// created. It was, over six seconds, even on a slow machine. (A row's timestamp has three bytes
	// in the first two seconds, four in the next four minutes.)
	now := time.Now().UnixMicro()
	p.fill("INSERT INTO KS.keysonly (a, b, c) VALUES (?, ?, ?) USING TIMESTAMP ?", 4000, func(i int) []any {
		return []any{fmt.Sprint("a", i/400), i % 20, int64(i), now + int64(i%400)*15_000}
	})
	p.do("CREATE TABLE KS.sparse (k text, i int, a text, b text, c text, d text, e text, f text, g text, h text, j text, never text, PRIMARY KEY (k, i))")
	for n, column := range []string{"a", "e", "j"} {
		p.fill("INSERT INTO KS.sparse (k, i, "+column+", h) VALUES (?, ?, ?, ?)", 400, func(i int) []any { return []any{fmt.Sprint("k", i/100), 1000*n + i, "v", ""} })
	}

	password := filepath.Join(t.TempDir(), "password")
	write := func(text string) {
		if err := os.WriteFile(password, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("wrong\n")
	address := "cql://" + cassandra.Username + "@" + i.Addr() + "/" + p.keyspace + "."
	if _, errs := inspected(t, 1, address+"logs", "--password-file", password, "--state", "none"); !strings.Contains(errs, "user cassandra is not let in") || !strings.Contains(errs, "hint: the password is the first line") {
		t.Errorf("wrong password: %s", errs)
	}
	if _, errs := inspected(t, 1, "cql://"+i.Addr()+"/"+p.keyspace+".logs", "--state", "none"); !strings.Contains(errs, "asks for a user") || !strings.Contains(errs, "hint: cql://user@host") {
		t.Errorf("without a user: %s", errs)
	}
	write(cassandra.Password + "\n")
	tables := []string{"logs", "types", "counts", "expiring", "keysonly", "sparse"}
	reports := map[string]*inspection.Report{}
	for _, table := range tables {
		reports[table], _ = inspected(t, 0, address+table, "--password-file", password, "--state", "none", "--top", "50", "--whole")
	}
	for _, l := range reports["logs"].Largest {
		if server := l.Key[0].Value; l.Rows != rows[server] {
			t.Errorf("%s has %d rows, planted are %d", server, l.Rows, rows[server])
		}
	}
	if err := i.Stop(); err != nil { // flushes
		t.Fatal(err)
	}
	for _, table := range tables {
		r, want := reports[table], sstables(t, i, p.keyspace, table)
		total, most := 0.0, 0.0
		for _, n := range want {
			total, most = total+n, math.Max(most, n)
		}
		t.Logf("%s: %.0f bytes, sstablepartitions has %.0f (%+.2f%%); largest %.0f, %.0f (%+.2f%%)", table, r.Bytes.Value, total, 100*(r.Bytes.Value/total-1),
			r.Sizes.Bytes.Max, most, 100*(r.Sizes.Bytes.Max/most-1))
		if r.Partitions.Value != float64(len(want)) || r.Coverage.Partial || r.Bytes.Low != r.Bytes.High {
			t.Errorf("%s: %+v, %d partitions in files", table, r.Totals, len(want))
		}
		if off := r.Bytes.Value/total - 1; math.Abs(off) > 0.05 {
			t.Errorf("%s: bytes are off by %.1f%%", table, 100*off)
		}
		for _, l := range r.Largest {
			var key []string
			for _, k := range l.Key {
				key = append(key, k.Value)
			}
			n, ok := want[strings.Join(key, ":")]
			if off := float64(l.Bytes)/n - 1; !ok || math.Abs(off) > 0.05 {
				t.Errorf("%s: partition %v has %d bytes, in files %.0f", table, key, l.Bytes, n)
			}
		}
	}
}

// notice calls f when something is written for the first time.
func notice(f func()) *noticed { return &noticed{f: f} }

type noticed struct {
	once sync.Once
	f    func()
}

func (n *noticed) Write(p []byte) (int, error) {
	n.once.Do(n.f)
	return len(p), nil
}

// TestInspectGoesOn interrupts an inspection and continues it. The result must be that of an
// inspection without interruption. A later inspection must show growth.
func TestInspectGoesOn(t *testing.T) {
	engine, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }() // its end is tested elsewhere
	for name, addr := range map[string]string{"cassandra": cassandra.Shared(t), "engine": engine} {
		t.Run(name, func(t *testing.T) {
			p := plant(t, addr, "")
			p.do("CREATE TABLE KS.t (k int, i int, v text, PRIMARY KEY (k, i))")
			const insert = "INSERT INTO KS.t (k, i, v) VALUES (?, ?, ?)"
			p.fill(insert, 3000, func(i int) []any { return []any{i / 10, i, "v"} })
			p.fill(insert, 600, func(i int) []any { return []any{-1, i, "v"} })
			dir := t.TempDir()
			address := "cql://" + addr + "/" + p.keyspace + ".t"
			once, _ := inspected(t, 0, address, "--state", "none", "--rate", "0")

			state := filepath.Join(dir, "state", "of t.json")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			// It is interrupted when it has read a range. Those that are read at the same
			// time may come to their ends, too.
			c := &inspectCmd{Table: address, State: state, Top: 10, Target: "auto", JSON: true, added: func(int) { cancel() }}
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := c.inspect(ctx, &stdio{&out, io.Discard})
			if err == nil || !strings.Contains(err.Error(), "the result is partial") || !strings.Contains(err.Error(), "interrupted") {
				t.Fatalf("%v", err)
			}
			partial := &inspection.Report{}
			if err := json.Unmarshal(out.Bytes(), partial); err != nil {
				t.Fatal(err)
			}
			if n := partial.Coverage; !n.Partial || n.Done == 0 || n.Done == n.Ranges || n.Read >= 1 || n.Why != "interrupted" || !(partial.Partitions.Low < partial.Partitions.Value && partial.Partitions.Value < partial.Partitions.High) {
				t.Errorf("partial: %+v %+v", n, partial.Partitions)
			}
			whole, errs := inspected(t, 0, address, "--state", state, "--rate", "0")
			if !strings.Contains(errs, "continuing the inspection") {
				t.Errorf("it began anew: %s", errs)
			}
			if whole.Totals != once.Totals || whole.Sizes != once.Sizes || whole.Coverage.Partial {
				t.Errorf("went on: %+v %+v, not interrupted %+v", whole.Coverage, whole.Totals, once.Totals)
			}
			if l := whole.Largest[0]; l.Rows != 600 || l.Key == nil || l.Key[0].Value != "-1" {
				t.Errorf("largest %+v", l)
			}
			if whole.Growth != nil || whole.GrowthNote == "" {
				t.Errorf("growth of a first inspection: %+v", whole.Growth)
			}

			p.fill(insert, 400, func(i int) []any { return []any{-1, 1000 + i, "v"} })
			time.Sleep(1100 * time.Millisecond)
			grown, _ := inspected(t, 0, address, "--state", state, "--rate", "0")
			if g := grown.Growth; g == nil || math.Abs(g.RowsPerDay.Value*g.Days-400) > 1e-6 || len(g.Largest) != 1 || g.Largest[0].Name != "k=-1" {
				t.Errorf("growth %+v", g)
			}
			if text, err := os.ReadFile(state); err != nil || bytes.Contains(text, []byte(`"k"`)) {
				t.Errorf("the state: %v %s", err, text)
			}
			p.do("DROP TABLE KS.t")
			p.do("CREATE TABLE KS.t (k int, i int, v text, PRIMARY KEY (k, i))")
			anew, errs := inspected(t, 0, address, "--state", state)
			if !strings.Contains(errs, "created again") || anew.Growth != nil || anew.Rows.Value != 0 {
				t.Errorf("another table of that name: %s %+v", errs, anew.Rows)
			}
		})
	}
}

// TestInspectSharded sees the physical partitions of a sharded table through a door,
// and adds up the logical ones.
func TestInspectSharded(t *testing.T) {
	engine, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }() // its end is tested elsewhere
	p := plant(t, engine, "")
	p.do("CREATE TABLE KS.blogs (day text, title text, body text, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': '20'}")
	p.do("CREATE TABLE KS.random (day text, title text, body text, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': '5', 'strategy': 'random'}")
	p.do("CREATE TABLE KS.static (day text, title text, s text static, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': '5'}")
	for _, table := range []string{"blogs", "random", "static"} {
		p.fill("INSERT INTO KS."+table+" (day, title) VALUES (?, ?)", 1400, func(i int) []any { return []any{fmt.Sprint("day ", max(0, i-1000)/100), fmt.Sprint("title ", i)} })
	}
	address := "cql://" + engine + "/" + p.keyspace + "."
	r, _ := inspected(t, 0, address+"blogs", "--state", "none")
	if !r.Door || r.Rows.Value != 1400 || r.Partitions.Value < 70 || r.Partitions.Value > 80 || r.Whole != "" || r.NodesNote == "" {
		t.Errorf("%+v", r)
	}
	if l := r.Logical; l == nil || l.Partitions.Value != 4 || l.PhysicalMax != 20 || l.Largest[0].Rows != 1100 || l.Largest[0].Key[0].Value != "day 0" || l.Rows.Max != 1100 {
		t.Errorf("logical %+v", l)
	}
	named := map[string]bool{}
	for _, l := range r.Largest {
		name := inspection.Text(l.Key, l.Token)
		if !regexp.MustCompile(`^day=day [0-3], shard=([1-9]|1[0-9]|20)$`).MatchString(name) || named[name] {
			t.Errorf("a partition is named %q", name)
		}
		named[name] = true
	}
	found := ""
	for _, f := range r.Key.Findings {
		found += f.Name + " " + f.Evidence
	}
	if !strings.Contains(found, "write_sharding") || !strings.Contains(found, "'shards': '20'") {
		t.Errorf("findings %s", found)
	}
	for table, why := range map[string]string{"random": "the strategy is random", "static": "static columns"} {
		r, _ := inspected(t, 0, address+table, "--state", "none")
		if r.Rows.Value != 1400 || r.Partitions.Value != 4 || !strings.Contains(r.Whole, why) || r.Logical != nil {
			t.Errorf("%s: %+v", table, r)
		}
	}
	if len(r.Hidden) != 3 || !strings.Contains(r.Hidden[0].Command, "--capacity keyspaces") {
		t.Errorf("unknown: %+v", r.Hidden)
	}
}

// TestInspectAsks checks that inspect requires --yes for large readings, samples large tables by
// itself, and reads the output of other tools.
func TestInspectAsks(t *testing.T) {
	engine, signals, ended := start(t)
	defer func() { signals <- syscall.SIGTERM; _ = wait(t, ended) }() // its end is tested elsewhere
	p := plant(t, engine, "")
	p.do("CREATE TABLE KS.t (k int PRIMARY KEY, v text)")
	p.fill("INSERT INTO KS.t (k, v) VALUES (?, ?)", 2000, func(i int) []any { return []any{i, strings.Repeat("v", 100)} })
	address := "cql://" + engine + "/" + p.keyspace + ".t"

	// Prices at which 2,000 rows are worth two hundred dollars.
	list := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(list, []byte("date: 2030-01-01\ncurrency: USD\nlists:\n  - store: keyspaces\n    region: here\n    million_write_units: 1\n    million_read_units: 4000000\n    gb_month: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	billed := []string{address, "--state", "none", "--target", "keyspaces", "--prices", list, "--region", "here", "--rate", "0"}
	if _, errs := inspected(t, 1, append(billed, "--whole")...); !strings.Contains(errs, "USD are more than 1.00") || !strings.Contains(errs, "hint: --yes reads it; --sample") || !strings.Contains(errs, "prices of 2030-01-01, here") {
		t.Errorf("%s", errs)
	}
	if r, _ := inspected(t, 0, append(billed, "--whole", "--yes")...); r.Rows.Value != 2000 || r.Prediction.Money < 100 || r.Coverage.Mode != "whole" {
		t.Errorf("%+v %+v", r.Coverage, r.Prediction)
	}
	if r, _ := inspected(t, 0, address, "--state", "none", "--sample", "25%", "--rate", "0"); r.Coverage.Mode != "sample" || math.Abs(r.Coverage.Read-0.25) > 0.001 || r.Coverage.Partial || r.Rows.Low > 2200 || r.Rows.High < 1800 || r.Rows.Low == r.Rows.High { // 99 of 100 intervals hold 2,000
		t.Errorf("%+v %+v", r.Coverage, r.Rows)
	}

	top := filepath.Join(t.TempDir(), "top.txt")
	if err := os.WriteFile(top, []byte("Frequency of reads by partition:\n   Table Partition Count +/-\n   "+p.keyspace+".t 17 4711 3\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := inspected(t, 0, address, "--state", "none", "--nodetool", top)
	if len(r.Outside) != 1 || r.Outside[0].Partitions[0] != (inspection.Counted{Key: "17", Count: 4711, Unit: "count", Error: 3}) || len(r.Hidden) != 2 {
		t.Errorf("%+v %+v", r.Outside, r.Hidden)
	}
	for _, c := range []struct{ args, want string }{
		{address + " --nodetool " + list, "is no output of these tools"},
		{address + "x", "there is no table tx"},
		{address + " --nodetool nowhere", "no such file"},
	} {
		if _, errs := inspected(t, 1, append(strings.Fields(c.args), "--state", "none")...); !strings.Contains(errs, c.want) {
			t.Errorf("%s: %s", c.args, errs)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"orders.csv", "is not the address of a table"},
		{address + " --sample 2", "is not a part of a table"},
		{address + " --sample 0.1 --whole", "exclude each other"},
		{address + " --top 1000", "--top: 1000 is not from 0 to 50"},
		{address + " --rate -1", "--rate"},
		{address + " --tls-ca x", "add --tls"},
	} {
		if _, errs := inspected(t, 2, strings.Fields(c.args)...); !strings.Contains(errs, c.want) {
			t.Errorf("%s: %s", c.args, errs)
		}
	}
}
