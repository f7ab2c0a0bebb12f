// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/workbench/report"
)

// These are limits of what the page holds.
const (
	MaxUpload = 256 << 20 // bytes of a file, as it is sent
	MaxHeld   = 768 << 20 // of all files
	IdleLimit = 30 * time.Minute

	maxQueries = 1 << 20 // bytes of a request that is not a file
	maxJobs    = 2       // concurrent readings; more must wait
	maxData    = 32      // files and tables held
)

// Options says what the page cannot know by itself.
type Options struct {
	// Hint returns the way out of an error, or "". It is that of the command line, so that both say
	// the same.
	Hint func(error) string
}

// Page is the page's handler.
type Page struct {
	o     Options
	token string
	mux   *http.ServeMux
	jobs  chan struct{}

	mu   sync.Mutex
	data map[string]*data // by id
	held int64            // bytes of files, including those that are being sent
}

//go:embed index.html page.css page.js icon.svg
var assets embed.FS

// Icon is the page's icon, an SVG.
//
//go:embed icon.svg
var Icon string

// DOM is JavaScript that the scripts of this program's other pages begin with.
//
//go:embed dom.js
var DOM string

// Asset serves an embedded file, such as a page's script, with a text before it.
func Asset(files embed.FS, name, kind, before string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, _ := files.ReadFile(name) // the file is embedded
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = w.Write(append([]byte(before), b...)) // a client that is gone does not read it
	}
}

// New makes a page and its token.
func New(o Options) *Page {
	if o.Hint == nil {
		o.Hint = func(error) string { return "" }
	}
	p := &Page{o: o, token: rand.Text(), mux: http.NewServeMux(), jobs: make(chan struct{}, maxJobs), data: make(map[string]*data)}
	p.mux.HandleFunc("GET /{$}", Asset(assets, "index.html", "text/html", ""))
	p.mux.HandleFunc("GET /workbench/page.js", Asset(assets, "page.js", "text/javascript", ""))
	p.mux.HandleFunc("GET /workbench/icon.svg", Asset(assets, "icon.svg", "image/svg+xml", ""))
	p.mux.HandleFunc("GET /workbench/page.css", Asset(assets, "page.css", "text/css", report.Style))
	p.mux.HandleFunc("GET /workbench/report", p.report)
	p.mux.HandleFunc("POST /workbench/data", p.upload)
	p.mux.HandleFunc("POST /workbench/live", p.live)
	p.mux.HandleFunc("POST /workbench/forget", p.forget)
	p.mux.HandleFunc("POST /workbench/advise", p.advise)
	p.mux.HandleFunc("POST /workbench/compare", p.compare)
	return p
}

// Token returns the token that a reader of live tables must have.
func (p *Page) Token() string { return p.token }

func (p *Page) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}

// ServeHTTP answers requests that admit accepts.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if err := admit(r); err != nil {
		p.fail(w, http.StatusForbidden, err)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// Guard protects other pages of this program: it passes on only requests that this page would
// accept, and sets the headers that restrict the browser.
func Guard(next http.Handler) http.Handler {
	p := new(Page)
	p.o.Hint = func(error) string { return "" }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if err := admit(r); err != nil {
			p.fail(w, http.StatusForbidden, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// failure is an error in the form that the page gets.
type failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

func (p *Page) failure(err error) failure {
	f := failure{Error: err.Error()}
	var h *hinted
	if errors.As(err, &h) {
		f.Hint = h.hint
	} else {
		f.Hint = p.o.Hint(err)
	}
	return f
}

func (p *Page) fail(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p.failure(err)) // a client that is gone does not read it
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone does not read it
}

// hinted is an error with its way out.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// ask reads a request that is not a file.
func ask[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	var v T
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQueries))
	d.DisallowUnknownFields()
	err := d.Decode(&v)
	return v, err
}
