// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	dto "github.com/prometheus/client_model/go"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

const observability = "../../examples/observability"

// Each metric that the dashboard or an alert rule names must exist on one of two servers: one on
// the embedded engine, and one in front of a cluster, which here is an engine without sharding.
func TestDashboardAndAlertsNameMetricsThatAreThere(t *testing.T) {
	o := newObserved(t)
	o.load()
	o.throttle("Capped", `"BillingMode":"PAY_PER_REQUEST","OnDemandThroughput":{"MaxReadRequestUnits":1,"MaxWriteRequestUnits":1}`)
	begin := func(s *serveCmd) *serveCmd {
		s.ListenCQL, s.ListenHTTP, s.ListenDynamoDB, s.Data, s.Drain, s.LogLevel = loopback.FreeAddr(t), loopback.FreeAddr(t), "off", t.TempDir(), patience, "error"
		signals, ended := s.start(t)
		t.Cleanup(func() { signals <- os.Interrupt; signals <- os.Interrupt; <-ended })
		return s
	}
	cluster := begin(&serveCmd{StoreOnly: true})
	(&observed{t: t, serve: cluster}).scrape()
	front := begin(&serveCmd{Cassandra: []string{cluster.ListenCQL}, CassandraConnections: 1})
	families := o.scrape()
	for name, f := range (&observed{t: t, serve: front}).scrape() {
		families[name] = f
	}
	names := regexp.MustCompile(`\b(evenkeel|process|go)_[a-z_]+\b`)
	for _, file := range []string{"dashboard.json", "alerts.yaml"} {
		text, err := os.ReadFile(filepath.Join(observability, file))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, name := range names.FindAllString(string(text), -1) {
			n++
			if families[name] == nil && families[baseOf(name)].GetType() != dto.MetricType_HISTOGRAM {
				t.Errorf("%s names %s, which no server has", file, name)
			}
		}
		if n < 10 {
			t.Errorf("%s names %d metrics", file, n)
		}
	}
}

// baseOf is the name of the histogram that a series is of.
func baseOf(name string) string {
	for _, end := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, end); ok {
			return base
		}
	}
	return name
}

// The alert rules have the fields that Prometheus takes, and no other.
func TestAlertRulesAreWellFormed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(observability, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			_, err := time.ParseDuration(r.For)
			if r.Alert == "" || seen[r.Alert] || strings.TrimSpace(r.Expr) == "" || r.For != "" && err != nil || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("rule %q: %+v", r.Alert, r)
			}
			seen[r.Alert] = true
		}
	}
	if len(seen) < 5 {
		t.Errorf("%d rules", len(seen))
	}
}

// The dashboard is JSON, and each panel has a query.
func TestDashboardIsWellFormed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(observability, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if p.Title == "" || ids[p.ID] || len(p.Targets) == 0 || p.Targets[0].Expr == "" || p.Targets[0].RefID == "" {
			t.Errorf("panel %q: %+v", p.Title, p)
		}
		ids[p.ID] = true
	}
	if len(ids) < 10 {
		t.Errorf("%d panels", len(ids))
	}
}

// Without a terminal, top shows once what a server did, as text and as JSON. If it cannot, it says
// why.
func TestTop(t *testing.T) {
	o := newObserved(t)
	o.load()
	busy, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-busy:
				return
			default:
				_ = o.session.Query("SELECT v FROM ks.plain WHERE k = 1").Exec() // that it fails, top shows
			}
		}
	}()
	defer func() { close(busy); <-stopped }()
	var out, errs bytes.Buffer
	if code := run([]string{"top", o.serve.ListenHTTP, "--once", "--interval", "300ms"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"cql (", "dynamodb (", "ks.plain", "requests/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escape sequences without a terminal")
	}
	out.Reset()
	if code := run([]string{"top", "http://" + o.serve.ListenHTTP, "--once", "--json", "--interval", "300ms"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var r struct {
		Tables []struct {
			Table    string
			Requests float64 `json:"requests_per_second"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || len(r.Tables) == 0 || r.Tables[0].Table != "ks.plain" || r.Tables[0].Requests <= 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	errs.Reset()
	if code := run([]string{"top", loopback.FreeAddr(t), "--once"}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "nothing listens") || !strings.Contains(errs.String(), "hint:") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
