// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/evenkeel/evenkeel/internal/testkit/chromium"
	"github.com/evenkeel/evenkeel/workbench/page"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// readings returns rows of sensors, one of which writes half of them.
func readings(t testing.TB, n int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("sensor,at,reading_id,value\n")
	for i := range n {
		sensor := fmt.Sprintf("s%03d", i*7919%50)
		if i%2 == 0 {
			sensor = "hot-sensor"
		}
		fmt.Fprintf(&b, "%s,2024-03-%02dT%02d:%02d:%02dZ,r%08d,%d\n", sensor, 1+i*28/n, i/3600%24, i/60%60, i%60, i, i*31%1000)
	}
	return write(t, "readings.csv", b.Bytes())
}

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const asked = "SELECT * FROM readings WHERE sensor = ? AND at > ? -- 50/s\nINSERT INTO readings (sensor, at, reading_id, value) VALUES (?, ?, ?, ?) -- 8000/s\n"

func serve(t testing.TB) (*page.Page, string) {
	t.Helper()
	p := page.New(page.Options{Hint: rows.Hint})
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s.URL + "/"
}

const done = `/^(Judged|Profiled)/.test(document.querySelector("#status").textContent)`
const failed = `!document.querySelector("#failure").hidden`
const compared = `document.querySelector("#sides table") && !document.querySelector("#sides").hasAttribute("aria-busy")`

// TestPage starts the browser once, because that takes longer than everything else.
func TestPage(t *testing.T) {
	b := chromium.Start(t)
	t.Setenv("TMPDIR", t.TempDir())
	file := readings(t, 4000)

	t.Run("drop, judge, compare", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		tab.Drop(file)
		tab.Until(done)
		if text := tab.Text("#report"); !strings.Contains(text, "No verdict") || !strings.Contains(text, "Could serve") {
			t.Errorf("without queries: %.400s", text)
		}
		tab.Do(chromedp.SendKeys("#queries", strings.TrimSuffix(asked, "\n")), chromedp.Click("#judge"))
		tab.Until(`document.querySelector("#status").textContent === "Judged."`)
		tab.Until(compared)
		text := tab.Text("#result")
		for _, want := range []string{"A primary key for readings.csv", "Verdict", "CREATE TABLE readings", "hot-sensor", "Partitions by size", "Rows by partition", "Rows of each node", "Writes over time (from left", "several numbers of shards", "Compare designs"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not on the page", want)
			}
		}
		tab.Until(compared)
		before := tab.Text("#sides")
		requests := len(tab.Requests())
		tab.Do(chromedp.Focus("#shards"))
		tab.Keys(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
		tab.Until(`document.querySelector("#compare-status").textContent.endsWith("N = 4.")`)
		tab.Until(compared)
		if after := tab.Text("#sides"); after == before || !strings.Contains(after, "in 4 shards") {
			t.Errorf("N = 4 changed nothing: %s", after)
		}
		for _, r := range tab.Requests()[requests:] {
			if !strings.HasPrefix(r, "POST ") {
				t.Errorf("the page was loaded again: %s", r)
			}
		}
		columns := chromium.Value[int](tab, `document.querySelectorAll("#sides thead th").length`)
		tab.Do(chromedp.Click("#choices input:checked"))
		tab.Until(fmt.Sprintf(`document.querySelectorAll("#sides thead th").length === %d`, columns-1))
		if n := chromium.Value[int](tab, `document.querySelectorAll("svg[role=img]:not([aria-labelledby])").length`); n != 0 {
			t.Errorf("%d drawings without words", n)
		}
		if ids := chromium.Value[[]string](tab, `(() => { const seen = {}; return [...document.querySelectorAll("[id]")].map(e => e.id).filter(id => seen[id]++ === 0 || (seen[id] = seen[id] || 1, false)) })()`); len(ids) > 0 {
			t.Errorf("ids that are there twice: %v", ids)
		}
		if loose := chromium.Value[[]string](tab, `[...document.querySelectorAll("[aria-labelledby],[aria-describedby]")].flatMap(e => ((e.getAttribute("aria-labelledby")||"")+" "+(e.getAttribute("aria-describedby")||"")).trim().split(/\s+/)).filter(id => !document.getElementById(id))`); len(loose) > 0 {
			t.Errorf("names of nothing: %v", loose)
		}
	})

	t.Run("sample data", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		if docs := chromium.Value[bool](tab, `!!document.querySelector("a[href$='docs/workbench.md']")`); !docs {
			t.Error("no link to the docs")
		}
		tab.Do(chromedp.Click("#try"))
		tab.Until(`document.querySelector("#status").textContent === "Judged."`)
		text := tab.Text("#result")
		for _, want := range []string{"A primary key for orders.csv", "CREATE TABLE shop.orders", "(customer)"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %.400s", want, text)
			}
		}
	})

	t.Run("a hint opens the option that it names", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		tab.Drop(write(t, "bad.csv", []byte("a,b\n"+strings.Repeat("x,1\n", 200)+"x,2,3,4\n")))
		tab.Until(failed)
		if open := chromium.Value[bool](tab, `document.querySelector("#max_bad_rows").closest("details").open`); !open {
			t.Errorf("it is closed: %s", tab.Text("#failure"))
		}
	})

	t.Run("names and dates that the file does not tell", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		var data strings.Builder
		data.WriteString("nr,wann\n")
		for i := range 300 {
			fmt.Fprintf(&data, "%d,0%d/0%d/2024 10:00\n", i, 1+i%3, 4+i%5)
		}
		tab.Drop(write(t, "dates.csv", []byte(data.String())))
		tab.Until(done)
		tab.Do(chromedp.Click("#question details:not(#live) summary"), chromedp.SendKeys("#columns", "id, sent"), chromedp.SendKeys("#date_order", "sent=ymd"), chromedp.Click("#judge"))
		tab.Until(failed)
		if text := tab.Text("#failure"); !strings.Contains(text, "--date-order sent=ymd: is neither") {
			t.Errorf("a wrong order of dates: %s", text)
		}
		for order, last := range map[string]string{"dmy": "2024-08-03", "mdy": "2024-03-08"} {
			tab.Do(chromedp.SetValue("#date_order", "sent="+order), chromedp.Click("#judge"))
			tab.Until(fmt.Sprintf(`document.querySelector("#report").textContent.includes(%q)`, last))
			tab.Until(`!document.querySelector("#result").textContent.includes("wann")`)
		}
	})

	t.Run("keyboard alone", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		tab.Do(chromedp.SetUploadFiles("#file", []string{file})) // the system's dialog is no part of the page
		tab.Until(done)
		reach(t, tab, "queries")
		for _, line := range strings.SplitAfter(strings.TrimSuffix(asked, "\n"), "\n") {
			tab.Keys(strings.ReplaceAll(line, "\n", "\r"))
		}
		reach(t, tab, "judge")
		tab.Keys("\r")
		tab.Until(`document.querySelector("#status").textContent === "Judged."`)
		tab.Until(`document.activeElement.id === "result"`)
		reach(t, tab, "save")
		tab.Until(compared)
		reach(t, tab, "shards")
		tab.Keys(kb.ArrowRight)
		tab.Until(`document.querySelector("#n").value === "N = 1"`)
		if style := chromium.Value[string](tab, `getComputedStyle(document.activeElement).outlineStyle`); style == "none" {
			t.Error("what has the focus does not show it")
		}
	})

	t.Run("dark, light and print", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		tab.Drop(file)
		tab.Until(done)
		tab.Until(compared)
		colours := map[string]string{}
		for _, c := range []string{"light", "dark"} {
			tab.Media("", c)
			colours[c] = chromium.Value[string](tab, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color`)
			if low := tab.LowContrast(); len(low) > 0 {
				t.Errorf("%s: too little contrast: %v", c, low)
			}
		}
		if colours["light"] == colours["dark"] {
			t.Errorf("dark is light: %v", colours)
		}
		tab.Media("print", "dark")
		if seen := chromium.Value[bool](tab, `["#question","#compare",".save"].some(s => document.querySelector(s).offsetParent !== null)`); seen {
			t.Error("what is no report is printed")
		}
		if paper := chromium.Value[string](tab, `getComputedStyle(document.body).backgroundColor`); paper != "rgb(255, 255, 255)" {
			t.Errorf("printed on %s", paper)
		}
		tab.Media("", "")
		pdf := chromium.Get(tab, chromedp.PrintToPDF())
		if !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
			t.Errorf("a PDF of %d bytes", len(pdf))
		}
		for _, width := range []int64{1100, 390} {
			tab.Do(chromedp.EmulateViewport(width, 800))
			if wide := chromium.Value[int64](tab, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("on a screen of %d, the page is %d wide", width, wide)
			}
		}
	})

	t.Run("bad files", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		for name, c := range map[string]struct{ data, queries, want, hint string }{
			"empty.csv":    {"", "", "advise: empty.csv: is empty", "CSV has a record a line"},
			"ragged.csv":   {"a,b\n1,2\n3\n", "", "advise: ragged.csv:3: ", "--max-bad-rows N"},
			"no.parquet":   {"PAR1 and nothing else", "", "advise: no.parquet: the Parquet is damaged", "copy the file again"},
			"array.json":   {"[{\"a\":1}]", "", "advise: array.json:1: is a JSON array", "jq -c"},
			"queries.csv":  {"a,b\n1,2\n", "SELECT * FROM t WHERE aa = ?", `advise: queries:1:`, ""},
			"<b>x</b>.csv": {"a,b\n1,2\n3,\"x\n", "", "advise: <b>x</b>.csv:", ""},
		} {
			tab.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("#failure").hidden = true; document.querySelector("#queries").value = %q`, c.queries)))
			path := write(t, strings.NewReplacer("<", "", ">", "", "/", "").Replace(name), []byte(c.data))
			if strings.Contains(name, "<") {
				tab.Until(fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%q], %q)); dispatchEvent(new DragEvent("drop", { dataTransfer: d, cancelable: true })); return true })()`, c.data, name))
			} else {
				tab.Drop(path)
			}
			tab.Until(failed)
			text := tab.Text("#failure")
			first := strings.ReplaceAll(c.want, "<b>x</b>", "b>") // a slash ends a folder's name
			if !strings.HasPrefix(text, c.want) && !strings.HasPrefix(text, first) || !strings.Contains(text, c.hint) {
				t.Errorf("%s: %s", name, text)
			}
			for _, bad := range tab.Forgive() { // the browser logs what is refused
				if !strings.Contains(bad, "422") {
					t.Errorf("%s: %s", name, bad)
				}
			}
		}
	})

	t.Run("the report as a file", func(t *testing.T) {
		_, url := serve(t)
		tab := b.Open(t, url)
		tab.Drop(file)
		tab.Until(done)
		for link, shown := range map[string]bool{"save": false, "save-keys": true} {
			html := chromium.Get(tab, chromedp.Evaluate[string](fmt.Sprintf(`fetch(document.getElementById(%q).href).then(r => r.text())`, link), chromedp.EvalAwaitPromise))
			if strings.Contains(html, "hot-sensor") != shown {
				t.Errorf("%s: values of keys shown: %t", link, !shown)
			}
			saved := b.Open(t, "file://"+write(t, link+".html", []byte(html)))
			if text := saved.Text("body"); !strings.Contains(text, "Partitions by size") || !strings.Contains(text, "A primary key for readings.csv") {
				t.Errorf("%s: %.300s", link, text)
			}
			if r := saved.Requests(); len(r) != 1 {
				t.Errorf("%s: the file loads %v", link, r)
			}
		}
	})

	t.Run("two at once, and 50 MB", func(t *testing.T) {
		p := page.New(page.Options{Hint: rows.Hint})
		var first sync.Once
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/advise") {
				first.Do(func() { w = stopped{w, r} }) // reading does not end before the page stops it
			}
			p.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		url := s.URL + "/"
		large := readings(t, 1_250_000)
		if st, err := os.Stat(large); err != nil || st.Size() < 50<<20 {
			t.Fatal(err, st.Size())
		}
		one, two := b.Open(t, url), b.Open(t, url)
		one.Drop(large)

		// Stop ends the reading at once. The uploaded file stays, and Judge reads it.
		one.Until(`document.querySelector("#status").textContent.startsWith("Reading")`)
		one.Do(chromedp.Click("#stop"))
		one.Until(`document.querySelector("#status").textContent === "Stopped."`)
		if shown := chromium.Value[bool](one, `["#stop", "#bar", "#failure", "#result"].some(s => !document.querySelector(s).hidden)`); shown {
			t.Error("stopped, it looks as if it went on, or had failed")
		}
		reach(t, one, "judge")
		one.Keys("\r")
		two.Drop(file)
		two.Until(done)
		one.Until(done)
		if text := one.Text("#report"); !strings.Contains(text, "1,250,000 rows") {
			t.Errorf("%.200s", text)
		}
		if text := two.Text("#report"); !strings.Contains(text, "4,000 rows") {
			t.Errorf("%.200s", text)
		}
	})

	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.Contains(f.Name(), "evenkeel") || strings.Contains(f.Name(), "multipart") {
			t.Errorf("a file was written: %s", f.Name())
		}
	}
}

// stopped answers nothing before its client has gone.
type stopped struct {
	http.ResponseWriter
	r *http.Request
}

func (s stopped) Write(p []byte) (int, error) {
	<-s.r.Context().Done()
	return s.ResponseWriter.Write(p)
}

// reach presses Tab until an element has the focus.
func reach(t *testing.T, tab *chromium.Tab, id string) {
	t.Helper()
	for range 80 {
		if chromium.Value[string](tab, "document.activeElement.id") == id {
			return
		}
		tab.Keys("\t")
	}
	t.Fatalf("Tab does not reach %s", id)
}
