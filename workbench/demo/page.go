// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"embed"
	"encoding/json"
	"net/http"

	"github.com/evenkeel/evenkeel/workbench/page"
	"github.com/evenkeel/evenkeel/workbench/report"
)

//go:embed page.html page.css page.js
var assets embed.FS

// Handler serves the live picture at /demo; / leads there.
func (d *Demo) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler("/demo", http.StatusSeeOther))
	mux.HandleFunc("GET /demo", page.Asset(assets, "page.html", "text/html", ""))
	mux.HandleFunc("GET /demo/page.css", page.Asset(assets, "page.css", "text/css", report.Style))
	mux.HandleFunc("GET /demo/page.js", page.Asset(assets, "page.js", "text/javascript", page.DOM))
	mux.HandleFunc("GET /demo/icon.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(page.Icon)) // as above
	})
	mux.HandleFunc("GET /demo/state", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(d.Snapshot()) // as above
	})
	return page.Guard(mux)
}
