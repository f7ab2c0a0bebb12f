// SPDX-License-Identifier: Apache-2.0

package serverpage

import (
	"embed"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/observe/top"
	"github.com/evenkeel/evenkeel/workbench/page"
	"github.com/evenkeel/evenkeel/workbench/report"
)

//go:embed page.html page.css page.js
var assets embed.FS

// Two readings of the metrics are between minApart and maxApart apart. All browsers that ask within
// minApart get the same report. A reading older than maxApart is no beginning for rates of now.
const (
	minApart = time.Second
	maxApart = 10 * time.Second
)

// Page is the handler of /server and of what the page loads.
type Page struct {
	http.Handler
	metrics prometheus.Gatherer
	now     func() time.Time

	mu     sync.Mutex
	at     time.Time   // of the last reading
	last   *top.Sample // the last reading
	report *top.Report // of the time between the last two readings; nil: there was one reading only
}

// New makes a page of the metrics of this process.
func New(metrics prometheus.Gatherer, now func() time.Time) *Page {
	p := &Page{metrics: metrics, now: now}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /server", page.Asset(assets, "page.html", "text/html", ""))
	mux.HandleFunc("GET /server/page.css", page.Asset(assets, "page.css", "text/css", report.Style))
	mux.HandleFunc("GET /server/page.js", page.Asset(assets, "page.js", "text/javascript", page.DOM))
	mux.HandleFunc("GET /server/figures", p.figures)
	p.Handler = page.Guard(mux)
	return p
}

// figures answers with a top.Report, or with null before there are two readings to compare.
func (p *Page) figures(w http.ResponseWriter, _ *http.Request) {
	r, err := p.read()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r) // a client that is gone does not read it
}

// read reads the metrics if the last reading is old enough, and returns the last report.
func (p *Page) read() (*top.Report, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	apart := now.Sub(p.at)
	if p.last != nil && apart < minApart {
		return p.report, nil
	}
	gathered, err := p.metrics.Gather()
	if err != nil {
		return nil, err
	}
	before := p.last
	p.at, p.last, p.report = now, top.Of(gathered, now), nil
	if before != nil && apart <= maxApart {
		p.report = top.Compare(before, p.last)
	}
	return p.report, nil
}
