// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel/evenkeel/internal/testkit/chromium"
)

// TestPage checks that the page shows the demo while it runs, and its result when it is done: the
// figures of the result, also in words.
func TestPage(t *testing.T) {
	b := chromium.Start(t)
	d, err := New(Options{Seconds: 2, Speed: 4})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d.Handler())
	defer server.Close()
	tab := b.Open(t, server.URL+"/")
	tab.Until(`document.querySelector("#status").textContent.startsWith("Starting")`)
	type end struct {
		Result
		err error
	}
	// The demo continues when the page has shown what it must show by then, however slow the page
	// is.
	begun, counted := make(chan bool), make(chan bool)
	at := 0
	d.halt = func() {
		if at == 0 {
			at++
			<-begun
		}
		if at == 1 && len(d.Snapshot().Tables[0].Course) > 0 {
			at++
			<-counted
		}
	}
	ended := make(chan end, 1)
	go func() {
		r, err := d.Run(context.Background())
		ended <- end{r, err}
	}()
	tab.Until(`document.querySelector("#status").textContent.startsWith("Writing: unsharded")`)
	close(begun)
	tab.Until(`document.querySelectorAll(".table.writing rect.accepted").length > 0`)
	close(counted)
	tab.Until(`document.body.dataset.done === "yes"`)
	r := <-ended
	if r.err != nil {
		t.Fatal(r.err)
	}
	text := tab.Text("body")
	for _, want := range []string{
		"5,000 writes a second of 1,000 bytes", "unsharded", "5 shards, cold", "5 shards, pre-warmed", "6 shards, pre-warmed", "TableWriteKeyRangeThroughputExceeded",
		"121212-1, 121212-3, 121212-4", "The same list from all 4 tables: 30 transactions.", "20 are of Client1; 10 are of Client10",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page:\n%s", want, text)
		}
	}
	if scaled := math.Abs(r.Speed-1) > 0.03; strings.Contains(text, "× the wall's") != scaled { // a slow machine runs slower than asked
		t.Errorf("at speed %v the page says:\n%s", r.Speed, text)
	}
	accepted := chromium.Value[[]string](tab, `[...document.querySelectorAll(".big li:first-child strong")].map(e => e.textContent)`)
	for i, tb := range r.Tables {
		if i >= len(accepted) || strings.ReplaceAll(accepted[i], ",", "") != strings.TrimSuffix(formatted(tb.PerSecond), ".") {
			t.Errorf("%s: the page says %v, the result %.1f", tb.Title, accepted, tb.PerSecond)
		}
	}
	if shared := chromium.Value[int](tab, `document.querySelectorAll("li.shared").length`); shared != 2 {
		t.Errorf("%d partitions are marked as shared", shared)
	}
	tab.Readable(1100, 390)
	tab.Keys("\t\r")
	tab.Until(`document.activeElement.id === "tables"`)
	if pdf := chromium.Get(tab, chromedp.PrintToPDF()); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Error("it does not print")
	}
	if dir := os.Getenv("REPORT_SHOTS"); dir != "" {
		tab.Do(chromedp.EmulateViewport(1100, 800))
		if err := os.WriteFile(filepath.Join(dir, "demo.png"), chromium.Get(tab, chromedp.FullScreenshot(100)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server.CloseClientConnections()
}

func formatted(x float64) string { return string(must(json.Marshal(int64(x + 0.5)))) }

func must(b []byte, _ error) []byte { return b }

// TestPageOutlives checks that when the program is gone, the page keeps what it has.
func TestPageOutlives(t *testing.T) {
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d.Handler())
	tab := chromium.Start(t).Open(t, server.URL+"/demo")
	tab.Until(`document.querySelectorAll(".table").length === 4`)
	server.CloseClientConnections()
	server.Close()
	tab.Until(`document.querySelector("#status").textContent.includes("has ended")`)
	tab.Forgive()
}

// TestHandler checks that only its own page gets answers, and a snapshot is JSON.
func TestHandler(t *testing.T) {
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d.Handler())
	defer server.Close()
	for _, c := range []struct {
		host, origin string
		want         int
	}{{"", "", 200}, {"evil.example", "", 403}, {"", "http://evil.example", 403}} {
		r, err := http.NewRequest("GET", server.URL+"/demo/state", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var got Result
		if err := json.NewDecoder(resp.Body).Decode(&got); resp.StatusCode != c.want || c.want == 200 && (err != nil || len(got.Tables) != 4) {
			t.Errorf("%+v: %s %v", c, resp.Status, err)
		}
		resp.Body.Close()
	}
	if _, err := New(Options{Rate: 50}); err == nil {
		t.Error("50 writes a second need no shards")
	}
	if _, err := New(Options{Seconds: int(time.Hour)}); err == nil {
		t.Error("it takes for ever")
	}
}
