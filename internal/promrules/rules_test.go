// SPDX-License-Identifier: Apache-2.0

//go:build ignore

package promrules

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

const folder = "../../examples/observability/"

// series is one that begins with a value, and grows by so much each minute.
type series struct {
	text string
	from float64
	by   float64
}

func grows(text string, by float64) series    { return series{text, 0, by} }
func stays(text string, value float64) series { return series{text, value, 0} }

// cases are, for each alert, series of which it fires, and others of which it does not.
var cases = map[string]struct{ fires, quiet []series }{
	"EvenkeelDown":   {[]series{stays(`up{job="evenkeel",instance="a"}`, 0)}, []series{stays(`up{job="evenkeel",instance="a"}`, 1)}},
	"EvenkeelPanics": {[]series{grows(`evenkeel_dynamodb_panics_total`, 1)}, []series{stays(`evenkeel_dynamodb_panics_total`, 3), stays(`evenkeel_cql_panics_total`, 0)}},
	"EvenkeelCQLErrors": {
		[]series{grows(`evenkeel_cql_errors_total{instance="a",table="t",code="read_timeout"}`, 10), grows(`evenkeel_cql_request_duration_seconds_count{instance="a",table="t"}`, 100)},
		[]series{grows(`evenkeel_cql_errors_total{instance="a",table="t",code="invalid"}`, 10), grows(`evenkeel_cql_request_duration_seconds_count{instance="a",table="t"}`, 100)},
	},
	"EvenkeelDynamoDBErrors": {
		[]series{grows(`evenkeel_dynamodb_errors_total{instance="a",code="ThrottlingException"}`, 10), grows(`evenkeel_dynamodb_request_duration_seconds_count{instance="a"}`, 100)},
		[]series{grows(`evenkeel_dynamodb_errors_total{instance="a",code="ValidationException"}`, 10), grows(`evenkeel_dynamodb_request_duration_seconds_count{instance="a"}`, 100)},
	},
	"EvenkeelSlow": {
		[]series{grows(`evenkeel_cql_request_duration_seconds_bucket{le="1"}`, 90), grows(`evenkeel_cql_request_duration_seconds_bucket{le="2.5"}`, 100), grows(`evenkeel_cql_request_duration_seconds_bucket{le="+Inf"}`, 100)},
		[]series{grows(`evenkeel_cql_request_duration_seconds_bucket{le="1"}`, 100), grows(`evenkeel_cql_request_duration_seconds_bucket{le="2.5"}`, 100), grows(`evenkeel_cql_request_duration_seconds_bucket{le="+Inf"}`, 100)},
	},
	"EvenkeelShardsThrottled": {[]series{grows(`evenkeel_cql_shard_retries_total{table="t"}`, 120)}, []series{grows(`evenkeel_cql_shard_retries_total{table="t"}`, 6)}},
	"EvenkeelDDLHalfDone":     {[]series{stays(`evenkeel_cql_tables_changing{change="creating"}`, 1)}, []series{stays(`evenkeel_cql_tables_changing{change="resharding"}`, 1), stays(`evenkeel_cql_tables_changing{change="dropping"}`, 0)}},
	"EvenkeelLeaseOver":       {[]series{stays(`evenkeel_cql_lease_remaining_seconds`, -1)}, []series{stays(`evenkeel_cql_lease_remaining_seconds`, 3)}},
	"EvenkeelBackendHostDown": {[]series{stays(`evenkeel_cql_backend_up{host="h"}`, 0)}, []series{stays(`evenkeel_cql_backend_up{host="h"}`, 1)}},
	"EvenkeelOverloaded":      {[]series{grows(`evenkeel_cql_requests_overloaded_total`, 1)}, []series{stays(`evenkeel_cql_requests_overloaded_total`, 5)}},
	"EvenkeelHotKey": {
		[]series{grows(`evenkeel_dynamodb_store_throttled_total{table="t",cause="partition"}`, 120)},
		[]series{grows(`evenkeel_dynamodb_store_throttled_total{table="t",cause="table"}`, 120)},
	},
	"EvenkeelTableThroughput": {
		[]series{grows(`evenkeel_dynamodb_store_throttled_total{table="t",cause="account"}`, 120)},
		[]series{grows(`evenkeel_dynamodb_store_throttled_total{table="t",cause="partition"}`, 120)},
	},
}

// Prometheus takes the rules; each fires when it should, and only then.
func TestAlerts(t *testing.T) {
	file, errs := rulefmt.ParseFile(folder+"alerts.yaml", false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			seen[r.Alert] = true
			c, ok := cases[r.Alert]
			if !ok {
				t.Errorf("alert %s has no case here", r.Alert)
				continue
			}
			if n := evaluate(t, r.Expr, c.fires); n != 1 {
				t.Errorf("%s does not fire once but %d times", r.Alert, n)
			}
			if n := evaluate(t, r.Expr, c.quiet); n != 0 {
				t.Errorf("%s fires where it should not", r.Alert)
			}
		}
	}
	for name := range cases {
		if !seen[name] {
			t.Errorf("there is no alert %s", name)
		}
	}
}

// Prometheus takes what the dashboard asks for.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(folder + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			if _, err := parser.ParseExpr(variables.Replace(target.Expr)); err != nil {
				t.Errorf("panel %q: %v", p.Title, err)
			}
		}
	}
}

// evaluate returns how many series an expression gives after an hour.
func evaluate(t *testing.T, expr string, all []series) int {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	defer engine.Close()
	q, err := engine.NewInstantQuery(context.Background(), given(t, all), nil, expr, time.Unix(3600, 0))
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	defer q.Close()
	got := q.Exec(context.Background())
	if got.Err != nil {
		t.Fatalf("%s: %v", expr, got.Err)
	}
	v, err := got.Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return len(v)
}

// given is a database with series, read each minute for an hour.
func given(t *testing.T, all []series) storage.Queryable {
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		set := new(found)
		for _, s := range all {
			l, err := parser.ParseMetric(s.text)
			if err != nil {
				t.Fatal(err)
			}
			fits := true
			for _, m := range matchers {
				fits = fits && m.Matches(l.Get(m.Name))
			}
			if !fits {
				continue
			}
			samples := make([]chunks.Sample, 61)
			for i := range samples {
				samples[i] = sample{int64(i) * 60_000, s.from + float64(i)*s.by}
			}
			set.all = append(set.all, storage.NewListSeries(l, samples))
		}
		return set
	}}}
}

// found is a storage.SeriesSet.
type found struct {
	all []storage.Series
	at  int
}

func (f *found) Warnings() annotations.Annotations { return nil }

func (f *found) Next() bool         { f.at++; return f.at <= len(f.all) }
func (f *found) At() storage.Series { return f.all[f.at-1] }
func (f *found) Err() error         { return nil }

type sample struct {
	t int64
	f float64
}

func (s sample) T() int64                    { return s.t }
func (s sample) F() float64                  { return s.f }
func (sample) H() *histogram.Histogram       { return nil }
func (sample) FH() *histogram.FloatHistogram { return nil }
func (sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample         { return s }
