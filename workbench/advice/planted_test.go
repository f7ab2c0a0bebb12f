package advice

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// planted are data with a known truth, queries that one would have of them, and
// what an expert would say.
var planted = []struct {
	name    string
	rows    func() *table
	queries string
	target  Target

	key        string // columns of the partition key, in any order
	clustering string // with what it begins
	sharded    bool
	bucket     bool
	bad        []string // antipatterns that must be named, and their columns
	not        []string // names that must not
	hot        string   // a value among the hot keys
	extras     int
}{
	{
		name: "nothing wrong",
		rows: func() *table {
			return generate(1, 8_000, "order_id,user_id,created_at,amount", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%08x%08x,user%d,%s,%d", r.Uint32(), i, r.IntN(2000), at(float64(i)*60), r.IntN(1000))
			})
		},
		queries: `
			SELECT * FROM orders WHERE user_id = ? -- 200/s
			SELECT * FROM orders WHERE user_id = ? AND order_id = ? -- 100/s
			INSERT INTO orders (order_id, user_id, created_at, amount) VALUES (?, ?, ?, ?) -- 50/s`,
		key: "user_id", clustering: "order_id", not: []string{"hot", "skew", "unbounded", "low cardinality", "unpredictable", "too granular", "sequence ids", "collision"},
	},
	{
		name: "hot key",
		rows: func() *table {
			return generate(2, 8_000, "user_id,event_id,payload", func(r *rand.Rand, i int) string {
				user := r.IntN(3000)
				if r.IntN(10) < 4 {
					user = 42
				}
				return fmt.Sprintf("user%d,e%d,%d", user, i*7919%1_000_003, r.IntN(1000))
			})
		},
		queries: `
			Query user_id = :u LIMIT 50 -- 100/s
			GetItem user_id = :u AND event_id = :e -- 100/s
			PutItem user_id, event_id, payload -- 6000/s`,
		target: DynamoDB,
		key:    "user_id", clustering: "event_id", sharded: true, bad: []string{"hot user_id", "skew user_id"}, hot: "user42",
	},
	{
		name: "unbounded",
		rows: func() *table {
			return generate(3, 10_000, "device_id,ts,temperature", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("dev%d,%s,%d.5", i%40, at(float64(i/40)*60), r.IntN(40))
			})
		},
		queries: `
			SELECT * FROM readings WHERE device_id = ? AND ts > ? AND ts < ? -- 20/s
			SELECT * FROM readings WHERE device_id = ? ORDER BY ts DESC LIMIT 10 -- 100/s
			INSERT INTO readings (device_id, ts, temperature) VALUES (?, ?, ?) -- 400/s`,
		key: "device_id", clustering: "ts", bucket: true, bad: []string{"unbounded device_id"}, not: []string{"hot", "skew", "collision"},
	},
	{
		name: "sequence id",
		rows: func() *table {
			return generate(4, 10_000, "id,customer,total", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%d,c%d,%d", i+1, r.IntN(2500), r.IntN(500))
			})
		},
		queries: `
			SELECT * FROM invoices WHERE customer = ? -- 100/s
			INSERT INTO invoices (id, customer, total) VALUES (?, ?, ?) -- 20/s`,
		key: "customer", clustering: "id", bad: []string{"sequence ids id"}, not: []string{"hot", "unbounded"},
	},
	{
		name: "collision",
		rows: func() *table {
			return generate(5, 10_000, "log_hour,level,server,message", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%s,%s,web%d,m%d", at(float64(i/400)*3600), []string{"INFO", "WARN", "ERROR"}[r.IntN(3)], r.IntN(30), r.IntN(8))
			})
		},
		queries: `
			SELECT * FROM server_logs WHERE server = ? AND log_hour = ? -- 50/s
			INSERT INTO server_logs (log_hour, level, server, message) VALUES (?, ?, ?, ?) -- 10/s`,
		key: "server,log_hour", clustering: idColumn, bucket: true, bad: []string{"collision "},
	},
	{
		name: "time burst",
		rows: func() *table {
			return generate(6, 8_000, "ts,sensor,value", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%s,s%d,%d", at(float64(i/100)*60), i%100, r.IntN(100))
			})
		},
		queries: `
			SELECT * FROM samples WHERE ts = ? -- 5/s
			INSERT INTO samples (ts, sensor, value) VALUES (?, ?, ?) -- 3000/s`,
		key: "ts", clustering: "sensor", bucket: true, bad: []string{"unpredictable ts", "too granular ts"},
	},
	{
		name: "low cardinality",
		rows: func() *table {
			return generate(7, 8_000, "order_id,status,at", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("o%07d,%s,%s", i*7919%9_999_991, []string{"new", "paid", "sent", "back"}[r.IntN(4)], at(float64(i)*20))
			})
		},
		queries: `
			SELECT * FROM orders WHERE status = ? LIMIT 100 -- 10/s
			INSERT INTO orders (order_id, status, at) VALUES (?, ?, ?) -- 800/s`,
		key: "status", bucket: true, bad: []string{"low cardinality status", "unbounded status"},
	},
	{
		name: "date key",
		rows: func() *table {
			return generate(8, 8_000, "publish_date,title,description", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("%s,title %d,text %d", day(i/300), i, r.Uint64())
			})
		},
		queries: `
			SELECT * FROM tracker.blogs WHERE publish_date = ? AND title = ? -- 500/s
			SELECT * FROM tracker.blogs WHERE publish_date = ? -- 1/s
			INSERT INTO tracker.blogs (publish_date, title, description) VALUES (?, ?, ?) -- 5000/s`,
		target: Keyspaces,
		key:    "publish_date", clustering: "title", sharded: true, bucket: true, bad: []string{"unpredictable publish_date"},
	},
	{
		name: "device skew",
		rows: func() *table {
			return generate(9, 10_000, "device,ts,reading", func(r *rand.Rand, i int) string {
				d := r.IntN(500)
				if r.IntN(2) == 0 {
					d = 7
				}
				return fmt.Sprintf("d%d,%s,%d", d, at(float64(i)*3), r.IntN(1000))
			})
		},
		queries: `
			Query device = :d AND ts BETWEEN :a AND :b -- 50/s
			PutItem device, ts, reading -- 4000/s`,
		target: DynamoDB,
		key:    "device", clustering: "ts", sharded: true, bad: []string{"skew device", "hot device"}, hot: "d7",
	},
	{
		name: "multi-tenant",
		rows: func() *table {
			return generate(10, 10_000, "tenant,doc_id,owner,updated", func(r *rand.Rand, i int) string {
				return fmt.Sprintf("t%d,%016x,u%d,%s", zipf(r, 1.3, 300), r.Uint64(), r.IntN(5000), at(float64(i)*5))
			})
		},
		queries: `
			GetItem tenant = :t AND doc_id = :d -- 1000/s
			Query tenant = :t LIMIT 25 -- 20/s
			PutItem tenant, doc_id, owner, updated -- 5000/s`,
		target: DynamoDB,
		key:    "tenant", clustering: "doc_id", sharded: true, bad: []string{"hot tenant", "skew tenant"}, hot: "t0",
	},
	{
		name: "invoices by country",
		rows: func() *table {
			return generate(11, 8_000, "invoice,country,amount,currency", func(r *rand.Rand, i int) string {
				country := "USA"
				if r.IntN(10) == 0 {
					country = fmt.Sprintf("C%d", r.IntN(60))
				}
				return fmt.Sprintf("%016x,%s,%d,USD", r.Uint64(), country, r.IntN(1000))
			})
		},
		queries: `
			GetItem invoice = :i -- 500/s
			Query country = :c LIMIT 100 -- 5/s
			PutItem invoice, country, amount, currency -- 3000/s`,
		target: DynamoDB,
		key:    "invoice", bad: []string{"hot country"}, hot: "USA", extras: 1,
	},
}

// Verdicts are what an expert would say, on exact counts and on what package profile
// makes of the same rows in a file.
func TestPlanted(t *testing.T) {
	for _, c := range planted {
		for _, way := range []struct {
			name   string
			advise func(testing.TB, *table, string, Options) *Report
		}{{"counted", advise}, {"profiled", adviseFile}} {
			t.Run(c.name+"/"+way.name, func(t *testing.T) {
				r := way.advise(t, c.rows(), strings.TrimSpace(c.queries), Options{Target: c.target})
				v := r.Verdict
				fail := func(format string, args ...any) { t.Errorf(format+"\n%s", append(args, show(r))...) }
				key := slices.Clone(v.PartitionKey)
				want := strings.Split(c.key, ",")
				slices.Sort(key)
				slices.Sort(want)
				switch {
				case !slices.Equal(key, want):
					fail("key %v, want %v", key, want)
				case c.clustering != "" && (len(v.Clustering) == 0 || v.Clustering[0] != c.clustering):
					fail("clustering %v, want %s first", v.Clustering, c.clustering)
				case (v.Shards > 1) != c.sharded:
					fail("%d shards", v.Shards)
				case (v.TimeBucket != nil) != c.bucket:
					fail("bucket %v", v.TimeBucket)
				case len(v.Extras) != c.extras:
					fail("%d further tables", len(v.Extras))
				case r.Candidates[0].RowsLost > 0:
					fail("the verdict loses rows")
				}
				for _, b := range c.bad {
					if !slices.ContainsFunc(r.Antipatterns, func(a Antipattern) bool {
						return a.Name+" "+strings.Join(a.Columns, ",") == b && a.Evidence != ""
					}) {
						fail("no antipattern %q", b)
					}
				}
				for _, n := range c.not {
					if slices.ContainsFunc(r.Antipatterns, func(a Antipattern) bool { return a.Name == n }) {
						fail("antipattern %s, which it is not", n)
					}
				}
				if c.hot != "" && !slices.ContainsFunc(r.HotKeys, func(h HotKey) bool { return h.Value == c.hot }) {
					fail("no hot key %s", c.hot)
				}
			})
		}
	}
}
