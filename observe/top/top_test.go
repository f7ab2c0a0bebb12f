// SPDX-License-Identifier: Apache-2.0

package top_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/observe/top"
)

// reading is a server's /metrics after n requests of ks.hot, of which the half took up to
// 1 ms and the half up to 4 ms, and m of ks.cold.
func reading(t *testing.T, seconds, n, m int) *top.Sample {
	t.Helper()
	text := fmt.Sprintf(`
# TYPE evenkeel_cql_requests_total counter
evenkeel_cql_requests_total %[3]d
# TYPE evenkeel_cql_request_duration_seconds histogram
evenkeel_cql_request_duration_seconds_bucket{table="ks.hot",operation="select",le="0.001"} %[4]d
evenkeel_cql_request_duration_seconds_bucket{table="ks.hot",operation="select",le="0.004"} %[1]d
evenkeel_cql_request_duration_seconds_bucket{table="ks.hot",operation="select",le="+Inf"} %[1]d
evenkeel_cql_request_duration_seconds_sum{table="ks.hot",operation="select"} 1
evenkeel_cql_request_duration_seconds_count{table="ks.hot",operation="select"} %[1]d
evenkeel_cql_request_duration_seconds_bucket{table="ks.cold",operation="insert",le="0.001"} %[2]d
evenkeel_cql_request_duration_seconds_bucket{table="ks.cold",operation="insert",le="0.004"} %[2]d
evenkeel_cql_request_duration_seconds_bucket{table="ks.cold",operation="insert",le="+Inf"} %[2]d
evenkeel_cql_request_duration_seconds_sum{table="ks.cold",operation="insert"} 1
evenkeel_cql_request_duration_seconds_count{table="ks.cold",operation="insert"} %[2]d
# TYPE evenkeel_cql_errors_total counter
evenkeel_cql_errors_total{table="ks.hot",code="overloaded"} %[2]d
# TYPE evenkeel_cql_backend_up gauge
evenkeel_cql_backend_up{host="127.0.0.1:9042"} 0
# TYPE evenkeel_dynamodb_store_throttled_total counter
evenkeel_dynamodb_store_throttled_total{table="Inv",index="",operation="write",cause="partition"} %[1]d
evenkeel_dynamodb_store_throttled_total{table="Inv",index="",operation="read",cause="partition"} %[2]d
evenkeel_dynamodb_store_throttled_total{table="",index="",operation="read",cause="account"} 0
# TYPE evenkeel_dynamodb_store_throttled_keys_total counter
evenkeel_dynamodb_store_throttled_keys_total{table="Inv",index="",operation="write",cause="partition",key="121212"} %[1]d
# TYPE evenkeel_cql_layout_change gauge
evenkeel_cql_layout_change{table="ks.hot",step="copied"} 1
# TYPE evenkeel_cql_layout_change_rows gauge
evenkeel_cql_layout_change_rows{table="ks.hot",rows="total"} 5000
evenkeel_cql_layout_change_rows{table="ks.hot",rows="moved"} %[1]d
evenkeel_cql_layout_change_rows{table="ks.hot",rows="verified"} %[2]d
`, n, m, n+m, n/2)
	s, err := top.Parse(strings.NewReader(text), time.Unix(int64(seconds), 0))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCompare(t *testing.T) {
	r := top.Compare(reading(t, 0, 100, 50), reading(t, 10, 1100, 70))
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	if len(r.Doors) != 1 || len(r.Tables) != 2 || r.Tables[0].Name != "ks.hot" || len(r.Errors) != 1 || len(r.Hosts) != 1 || r.Hosts[0].Up {
		t.Fatalf("%+v", r)
	}
	near("requests/s of the door", r.Doors[0].Requests, 102)
	near("requests/s of the table", r.Tables[0].Requests, 100)
	near("errors/s", r.Errors[0].PerSecond, 2)
	if want := []top.Throttled{{Table: "Inv", Cause: "partition", PerSecond: 102}, {Table: "Inv", Cause: "partition", Key: "121212", PerSecond: 100}}; !slices.Equal(r.Throttled, want) {
		t.Errorf("throttled: %+v", r.Throttled)
	}
	if want := []top.Change{{Door: "cql", Table: "ks.hot", Step: "copied", Total: 5000, Moved: 1100, Verified: 70, PerSecond: 100}}; !slices.Equal(r.Changes, want) {
		t.Errorf("changes: %+v", r.Changes)
	}
	near("median", r.Tables[0].P50, 0.001)
	near("p99", r.Tables[0].P99, 0.001+0.003*0.98)
	// A server that has begun anew has not done less than nothing.
	again := top.Compare(reading(t, 0, 100, 50), reading(t, 10, 40, 20))
	near("requests/s after a restart", again.Tables[0].Requests, 4)
	near("errors/s after a restart", again.Errors[0].PerSecond, 2)
}

// What is shown fits the terminal, and names cannot write to it.
func TestText(t *testing.T) {
	r := top.Compare(reading(t, 0, 100, 50), reading(t, 10, 1100, 70))
	r.Tables[0].Name = "ks.\x1b[2Jhot"
	for i := range 50 {
		r.Tables = append(r.Tables, top.Table{Door: "cql", Name: fmt.Sprint("ks.t", i)})
	}
	text := r.Text("server", 100, 24)
	if n := strings.Count(text, "\n"); n > 24 {
		t.Errorf("%d lines on a terminal of 24", n)
	}
	if strings.ContainsRune(text, '\x1b') {
		t.Error("a table's name reaches the terminal as it is")
	}
	for _, want := range []string{"ks.?[2Jhot", "overloaded", "127.0.0.1:9042", "down", "more", "partition   121212", "copied         5000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestOtherMetricsAreRefused(t *testing.T) {
	for _, text := range []string{"go_goroutines 1\n", "<html>"} {
		if _, err := top.Parse(strings.NewReader(text), time.Time{}); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
