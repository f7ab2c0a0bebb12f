// SPDX-License-Identifier: Apache-2.0

package serverpage_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/evenkeel/evenkeel/internal/testkit/chromium"
	"github.com/evenkeel/evenkeel/workbench/serverpage"
)

// server is a server's metrics, of which each reading finds more.
type server struct {
	*prometheus.Registry
	requests, errors, throttled, keys *prometheus.CounterVec
	took                              *prometheus.HistogramVec
	step, rows                        *prometheus.GaugeVec
	moved                             atomic.Int64
}

func newServer() *server {
	s := &server{Registry: prometheus.NewRegistry()}
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name}, labels)
		s.MustRegister(v)
		return v
	}
	gauge := func(name string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name}, labels)
		s.MustRegister(v)
		return v
	}
	s.requests = counter("evenkeel_cql_requests_total")
	s.errors = counter("evenkeel_cql_errors_total", "table", "code")
	s.throttled = counter("evenkeel_dynamodb_store_throttled_total", "table", "index", "operation", "cause")
	s.keys = counter("evenkeel_dynamodb_store_throttled_keys_total", "table", "index", "operation", "cause", "key")
	s.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "evenkeel_cql_request_duration_seconds", Buckets: []float64{0.001, 0.01}}, []string{"table", "operation"})
	s.MustRegister(s.took)
	s.step, s.rows = gauge("evenkeel_cql_layout_change", "table", "step"), gauge("evenkeel_cql_layout_change_rows", "table", "rows")
	gauge("evenkeel_cql_backend_up", "host").WithLabelValues("10.0.0.7:9042").Set(0)
	return s
}

// work is what the server does between two readings.
func (s *server) work() {
	for range 500 {
		s.requests.WithLabelValues().Inc()
		s.took.WithLabelValues("shop.invoices<b>", "select").Observe(0.005)
	}
	s.errors.WithLabelValues("shop.invoices<b>", "overloaded").Add(3)
	s.throttled.WithLabelValues("Invoices", "", "write", "partition").Add(40)
	s.keys.WithLabelValues("Invoices", "", "write", "partition", "121212").Add(40)
	s.step.WithLabelValues("shop.days", "copied").Set(1)
	s.rows.WithLabelValues("shop.days", "total").Set(20_000)
	s.rows.WithLabelValues("shop.days", "moved").Set(float64(s.moved.Add(1000)))
}

// TestPage checks that the page shows what the server did between two readings, goes on, and keeps
// its last figures when the server is gone.
func TestPage(t *testing.T) {
	b := chromium.Start(t)
	s := newServer()
	var seconds atomic.Int64
	p := serverpage.New(s, func() time.Time { return time.Unix(seconds.Load(), 0) })
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/server/figures" {
			seconds.Add(2)
			s.work()
		}
		p.ServeHTTP(w, r)
	}))
	defer at.Close()
	tab := b.Open(t, at.URL+"/server")
	tab.Until(`document.querySelectorAll("#changes progress").length === 2`)
	text := tab.Text("body")
	for _, want := range []string{
		"CQL door", "250 requests a second", "1.5 errors a second", "shop.invoices<b>", "Step: copied. 500 rows a second; 36 s left to move.", "2,000 of 20,000",
		"Invoices", "partition", "121212", "20", "The key is hot", "overloaded", "10.0.0.7:9042", "down",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page:\n%s", want, text)
		}
	}
	tab.Until(`document.querySelector("#changes").innerText.includes("3,000 of 20,000")`)
	tab.Until(`(document.querySelector(".course path").getAttribute("d").match(/L/g) || []).length >= 1`)
	tab.Readable(1100, 390)
	if dir := os.Getenv("REPORT_SHOTS"); dir != "" {
		tab.Do(chromedp.EmulateViewport(1100, 800))
		if err := os.WriteFile(filepath.Join(dir, "server.png"), chromium.Get(tab, chromedp.FullScreenshot(100)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at.CloseClientConnections()
	at.Close()
	tab.Until(`document.querySelector("#status").className === "lost"`)
	if text := tab.Text("#figures"); !strings.Contains(text, "shop.days") {
		t.Errorf("the last figures are gone:\n%s", text)
	}
	tab.Forgive()
}

// TestFigures checks that browsers share readings, that a first reading has no rates, and that other
// sites get nothing.
func TestFigures(t *testing.T) {
	s := newServer()
	now := time.Unix(0, 0)
	readings := 0
	p := serverpage.New(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { readings++; s.work(); return s.Gather() }), func() time.Time { return now })
	ask := func(after time.Duration) string {
		now = now.Add(after)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/server/figures", nil))
		return strings.TrimSpace(w.Body.String())
	}
	if got := ask(0); got != "null" {
		t.Errorf("after one reading: %s", got)
	}
	if got := ask(2 * time.Second); !strings.Contains(got, `"requests_per_second":250`) {
		t.Errorf("after two readings: %s", got)
	}
	if got := ask(100 * time.Millisecond); !strings.Contains(got, `"requests_per_second":250`) || readings != 2 {
		t.Errorf("another browser makes reading %d: %s", readings, got)
	}
	if got := ask(time.Hour); got != "null" || readings != 3 {
		t.Errorf("after an hour, reading %d: %s", readings, got)
	}
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/server/figures", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Host = "elsewhere.example"
	w := httptest.NewRecorder()
	if p.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("another site gets %d", w.Code)
	}
}
