// SPDX-License-Identifier: Apache-2.0

// Package planted provides data with a known truth, typical queries on them, and an expert's
// conclusions.
package planted

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Set is one set of data with its truth.
type Set struct {
	Name    string
	Rows    func() *Table
	Queries string
	Target  string // "": cassandra

	Key        string // columns of the partition key, in any order
	Clustering string // the first clustering columns
	Sharded    bool
	Bucket     bool
	Bad        []string // antipatterns that the advice must name, with their columns
	Not        []string // names that the advice must not use
	Hot        string   // one of the hot keys
	Extras     int      // number of further tables or indexes
}

// Table is rows with the names of their columns.
type Table struct {
	Names []string
	Rows  [][]string
}

// generate makes rows with a function of the row number.
func generate(seed uint64, n int, names string, row func(r *rand.Rand, i int) string) *Table {
	r := rand.New(rand.NewPCG(seed, 7))
	tb := &Table{Names: strings.Split(names, ",")}
	for i := range n {
		tb.Rows = append(tb.Rows, strings.Split(row(r, i), ","))
	}
	return tb
}

var start = time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) string {
	return start.Add(time.Duration(seconds * float64(time.Second))).Format(time.RFC3339)
}

func day(n int) string { return start.AddDate(0, 0, n).Format(time.DateOnly) }

// zipf draws a number from 0 to n-1; small numbers are far more frequent.
func zipf(r *rand.Rand, s float64, n int) int {
	return int(rand.NewZipf(r, s, 1, uint64(n-1)).Uint64())
}

// Sets lists all sets.
var Sets = []Set{
	{
		Name: "nothing wrong",
		Rows: func() *Table {
			return generate(1, 8_000, "order_id,user_id,created_at,amount", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%08x%08x,user%d,%s,%d", r.Uint32(), i, r.IntN(2000), at(float64(i)*60), r.IntN(1000))
			})
		},
		Queries: `
			SELECT * FROM orders WHERE user_id = ? -- 200/s
			SELECT * FROM orders WHERE user_id = ? AND order_id = ? -- 100/s
			INSERT INTO orders (order_id, user_id, created_at, amount) VALUES (?, ?, ?, ?) -- 50/s`,
		Key: "user_id", Clustering: "order_id", Not: []string{"hot", "skew", "unbounded", "low cardinality", "unpredictable", "too granular", "sequence ids", "collision"},
	},
	{
		Name: "hot key",
		Rows: func() *Table {
			return generate(2, 8_000, "user_id,event_id,payload", func(r *rand.Rand, i int) string {
				user := r.IntN(3000)
				if r.IntN(10) < 4 {
					user = 42
				}
				return fmt.Sprintf("user%d,e%d,%d", user, i*7919%1_000_003, r.IntN(1000))
			})
		},
		Queries: `
			Query user_id = :u LIMIT 50 -- 100/s
			GetItem user_id = :u AND event_id = :e -- 100/s
			PutItem user_id, event_id, payload -- 6000/s`,
		Target: "dynamodb",
		Key:    "user_id", Clustering: "event_id", Sharded: true, Bad: []string{"hot user_id", "skew user_id"}, Hot: "user42",
	},
	{
		Name: "unbounded",
		Rows: func() *Table {
			return generate(3, 10_000, "device_id,ts,temperature", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("dev%d,%s,%d.5", i%40, at(float64(i/40)*60), r.IntN(40))
			})
		},
		Queries: `
			SELECT * FROM readings WHERE device_id = ? AND ts > ? AND ts < ? -- 20/s
			SELECT * FROM readings WHERE device_id = ? ORDER BY ts DESC LIMIT 10 -- 100/s
			INSERT INTO readings (device_id, ts, temperature) VALUES (?, ?, ?) -- 400/s`,
		Key: "device_id", Clustering: "ts", Bucket: true, Bad: []string{"unbounded device_id"}, Not: []string{"hot", "skew", "collision"},
	},
	{
		Name: "sequence id",
		Rows: func() *Table {
			return generate(4, 10_000, "id,customer,total", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%d,c%d,%d", i+1, r.IntN(2500), r.IntN(500))
			})
		},
		Queries: `
			SELECT * FROM invoices WHERE customer = ? -- 100/s
			INSERT INTO invoices (id, customer, total) VALUES (?, ?, ?) -- 20/s`,
		Key: "customer", Clustering: "id", Bad: []string{"sequence ids id"}, Not: []string{"hot", "unbounded"},
	},
	{
		Name: "collision",
		Rows: func() *Table {
			return generate(5, 10_000, "log_hour,level,server,message", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%s,%s,web%d,m%d", at(float64(i/400)*3600), []string{"INFO", "WARN", "ERROR"}[r.IntN(3)], r.IntN(30), r.IntN(8))
			})
		},
		Queries: `
			SELECT * FROM server_logs WHERE server = ? AND log_hour = ? -- 50/s
			INSERT INTO server_logs (log_hour, level, server, message) VALUES (?, ?, ?, ?) -- 10/s`,
		Key: "server,log_hour", Clustering: "row_id", Bucket: true, Bad: []string{"collision "},
	},
	{
		Name: "time burst",
		Rows: func() *Table {
			return generate(6, 8_000, "ts,sensor,value", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%s,s%d,%d", at(float64(i/100)*60), i%100, r.IntN(100))
			})
		},
		Queries: `
			SELECT * FROM samples WHERE ts = ? -- 5/s
			INSERT INTO samples (ts, sensor, value) VALUES (?, ?, ?) -- 3000/s`,
		Key: "ts", Clustering: "sensor", Bucket: true, Sharded: true, Bad: []string{"unpredictable ts", "too granular ts"},
	},
	{
		Name: "low cardinality",
		Rows: func() *Table {
			return generate(7, 8_000, "order_id,status,at", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("o%07d,%s,%s", i*7919%9_999_991, []string{"new", "paid", "sent", "back"}[r.IntN(4)], at(float64(i)*20))
			})
		},
		Queries: `
			SELECT * FROM orders WHERE status = ? LIMIT 100 -- 10/s
			INSERT INTO orders (order_id, status, at) VALUES (?, ?, ?) -- 800/s`,
		Key: "status", Bucket: true, Bad: []string{"low cardinality status", "unbounded status"},
	},
	{
		Name: "date key",
		Rows: func() *Table {
			return generate(8, 8_000, "publish_date,title,description", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%s,title %d,text %d", day(i/300), i, r.Uint64())
			})
		},
		Queries: `
			SELECT * FROM tracker.blogs WHERE publish_date = ? AND title = ? -- 500/s
			SELECT * FROM tracker.blogs WHERE publish_date = ? -- 1/s
			INSERT INTO tracker.blogs (publish_date, title, description) VALUES (?, ?, ?) -- 5000/s`,
		Target: "keyspaces",
		Key:    "publish_date", Clustering: "title", Sharded: true, Bucket: true, Bad: []string{"unpredictable publish_date"},
	},
	{
		Name: "device skew",
		Rows: func() *Table {
			return generate(9, 10_000, "device,ts,reading", func(r *rand.Rand, i int) string {
				d := r.IntN(500)
				if r.IntN(2) == 0 {
					d = 7
				}
				return fmt.Sprintf("d%d,%s,%d", d, at(float64(i)*3), r.IntN(1000))
			})
		},
		Queries: `
			Query device = :d AND ts BETWEEN :a AND :b -- 50/s
			PutItem device, ts, reading -- 4000/s`,
		Target: "dynamodb",
		Key:    "device", Clustering: "ts", Sharded: true, Bad: []string{"skew device", "hot device"}, Hot: "d7",
	},
	{
		Name: "multi-tenant",
		Rows: func() *Table {
			return generate(10, 10_000, "tenant,doc_id,owner,updated", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("t%d,%016x,u%d,%s", zipf(r, 1.3, 300), r.Uint64(), r.IntN(5000), at(float64(i)*5))
			})
		},
		Queries: `
			GetItem tenant = :t AND doc_id = :d -- 1000/s
			Query tenant = :t LIMIT 25 -- 20/s
			PutItem tenant, doc_id, owner, updated -- 5000/s`,
		Target: "dynamodb",
		Key:    "tenant", Clustering: "doc_id", Sharded: true, Bad: []string{"hot tenant", "skew tenant"}, Hot: "t0",
	},
	{
		Name: "invoices by country",
		Rows: func() *Table {
			return generate(11, 8_000, "invoice,country,amount,currency", func(r *rand.Rand, i int) string {
				country := "USA"
				if r.IntN(10) == 0 {
					country = fmt.Sprintf("C%d", r.IntN(60))
				}
				return fmt.Sprintf("%016x,%s,%d,USD", r.Uint64(), country, r.IntN(1000))
			})
		},
		Queries: `
			GetItem invoice = :i -- 500/s
			Query country = :c LIMIT 100 -- 5/s
			PutItem invoice, country, amount, currency -- 3000/s`,
		Target: "dynamodb",
		Key:    "invoice", Bad: []string{"hot country"}, Hot: "USA", Extras: 1,
	},
}
