// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// TestBucketsLeaveStatements checks advice with a time bucket by write_sharding's strategy time:
// the table has no column for the bucket, and the queries stay as they were given.
func TestBucketsLeaveStatements(t *testing.T) {
	asked := []string{
		"SELECT * FROM iot.readings WHERE device = ? AND at >= ? AND at < ?",
		"SELECT * FROM iot.readings WHERE device = ? ORDER BY at DESC LIMIT 100",
		"INSERT INTO iot.readings (device, at, id, value) VALUES (?, ?, ?, ?)",
		"DELETE FROM iot.readings WHERE device = ? AND at = ? AND id = ?",
	}
	r := readings(t, strings.Join(asked[:2], " -- 50/s\n")+" -- 50/s\n"+asked[2]+" -- 5k/s\n"+asked[3]+" -- 1/s\n")
	v := r.Verdict
	if v.TimeBucket == nil || v.Bucket != nil || v.Strategy != "time" || len(v.Added) > 0 || !slices.Equal(v.By, []string{"at"}) {
		t.Errorf("bucket %v, column %v, strategy %s by %v, added %v", v.TimeBucket, v.Bucket, v.Strategy, v.By, v.Added)
	}
	if ddl := v.DDL[0]; !strings.Contains(ddl, "PRIMARY KEY ((device), at, id)") || !strings.Contains(ddl, "'strategy': 'time'") || !strings.Contains(ddl, "'by': 'at'") {
		t.Error(ddl)
	}
	for i, x := range v.Statements {
		if x.Text != asked[i]+";" || x.Note != "" {
			t.Errorf("%s (%s)\nis not\n%s", x.Text, x.Note, asked[i])
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s\n%s", v.Design, v.Summary, strings.Join(v.Reasons, "\n"))
	}
}

// TestBucketOfOneTime checks data whose times are whole hours, at a rate that needs a bucket for each
// hour. The bucket is still the layout's, so that a range of times stays one statement.
func TestBucketOfOneTime(t *testing.T) {
	asked := "SELECT * FROM shop.invoices WHERE country = ? AND at >= ? AND at < ?"
	r := advised(t, asked+" -- 50/s\nINSERT INTO shop.invoices (invoice, country, at, amount) VALUES (?, ?, ?, ?) -- 30k/s", "invoice,country,at,amount", func(i int, at time.Time) string {
		return fmt.Sprintf("%x,c%d,%s,%d", uint64(i+1)*0x9e3779b97f4a7c15, i%11*(i%5/4), at.Truncate(time.Hour).Format(time.RFC3339), i%997)
	})
	v := r.Verdict
	if v.Strategy != "time" || v.Bucket != nil || !slices.Equal(v.Clustering, []string{"at", "invoice"}) || v.Statements[0].Text != asked+";" || v.Statements[0].Note != "" {
		t.Errorf("%s: strategy %s, column %v, clustering %v, %s (%s)", v.Design, v.Strategy, v.Bucket, v.Clustering, v.Statements[0].Text, v.Statements[0].Note)
	}
}

// readings advises on rows of devices, a minute apart, whose ids hold no time.
func readings(t *testing.T, asked string) *Report {
	t.Helper()
	return advised(t, asked, "device,at,id,value", func(i int, at time.Time) string {
		return fmt.Sprintf("d%d,%s,%x,%d", i%20, at.Format(time.RFC3339), uint64(i+1)*0x9e3779b97f4a7c15, i%997)
	})
}

// advised advises on rows that come a minute apart.
func advised(t *testing.T, asked, names string, row func(i int, at time.Time) string) *Report {
	t.Helper()
	var data strings.Builder
	data.WriteString(names + "\n")
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 30_000 {
		data.WriteString(row(i, first.Add(time.Duration(i)*time.Minute)) + "\n")
	}
	return advisedOf(t, asked, data.String())
}

// advisedOf asks for advice about a CSV file, as a user does.
func advisedOf(t *testing.T, asked, data string) *Report {
	t.Helper()
	return advisedFor(t, asked, data, Options{})
}

// advisedFor asks for advice with options.
func advisedFor(t *testing.T, asked, data string, o Options) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := rows.Open(name, rows.Options{Again: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	qs, err := queries.Parse(asked)
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := Run(t.Context(), src, qs, o, profile.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBucketsOfIds checks that the layout's buckets take the time of ids if queries give a timeuuid
// and no other time. A query of one row reads one bucket.
func TestBucketsOfIds(t *testing.T) {
	asked := "SELECT * FROM readings WHERE device = ? AND id = ?"
	r := advised(t, asked+" -- 50/s\nSELECT * FROM readings WHERE device = ? LIMIT 100 -- 50/s\nINSERT INTO readings (device, id, value) VALUES (?, ?, ?) -- 5k/s\n", "device,at,id,value", func(i int, at time.Time) string {
		ticks := uint64(at.UnixNano()/100) + 0x01b21dd213814000
		return fmt.Sprintf("d%d,%s,%08x-%04x-1%03x-a%03x-0123456789ab,%d", i%20, at.Format(time.RFC3339), uint32(ticks), uint16(ticks>>32), ticks>>48&0xfff, i%4096, i%997)
	})
	v := r.Verdict
	if v.Strategy != "time" || !slices.Equal(v.By, []string{"id"}) || v.Statements[0].Text != asked+";" {
		t.Errorf("%s\n%s\n%s", v.Design, v.DDL[0], v.Statements[0].Text)
	}
	if q := r.Candidates[0].Queries[0]; q.Partitions != 1 {
		t.Errorf("reads %v partitions: %s", q.Partitions, q.Why)
	}
}

// TestBucketsOfNoTime checks that the notes of statements agree with the computed costs: a query
// that gives no time, and does not order by time, reads all buckets whatever its limit is.
func TestBucketsOfNoTime(t *testing.T) {
	r := readings(t, "SELECT * FROM readings WHERE device = ? AND id = ? -- 50/s\nSELECT * FROM readings WHERE device = ? LIMIT 100 -- 5/s\nINSERT INTO readings (device, at, id, value) VALUES (?, ?, ?, ?) -- 5k/s\n")
	v := r.Verdict
	if v.Bucket == nil || v.Strategy == "time" {
		t.Fatalf("%s: not what this test is about", v.Design)
	}
	for _, q := range r.Candidates[0].Queries {
		x := v.Statements[q.Line-1]
		if all := strings.Contains(q.Why, "all hours") || strings.Contains(q.Why, "all days"); all != strings.Contains(x.Note, "once for each") || all == strings.Contains(x.Note, "until there is enough") && q.Line < 3 {
			t.Errorf("line %d: %s, but: %s", q.Line, q.Why, x.Note)
		}
	}
}
