// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel/evenkeel/internal/testkit/chromium"
	"github.com/evenkeel/evenkeel/workbench/advice"
)

// TestFilesInABrowser checks that each kind of report stands alone in a browser, light and dark, on
// a narrow screen, on paper, by keyboard and to a screen reader.
func TestFilesInABrowser(t *testing.T) {
	b := chromium.Start(t)
	advised := plotted(t, advice.Cassandra, manyRows(3000), secretQueries)
	for name, write := range map[string]func(io.Writer) error{
		"advise":          func(w io.Writer) error { return AdviceHTML(w, advised, false) },
		"simulate":        func(w io.Writer) error { return HTML(w, sample(t, 30)) },
		"inspect":         func(w io.Writer) error { return InspectionHTML(w, inspected(t, 1, true), false) },
		"inspect, sample": func(w io.Writer) error { return InspectionHTML(w, inspected(t, 0.5, false), false) },
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			if err := write(&text); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "report.html")
			if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			tab := b.Open(t, "file://"+path)
			if r := tab.Requests(); len(r) != 1 {
				t.Errorf("the file loads %v", r)
			}
			if bad := tab.Unnamed(); len(bad) > 0 {
				t.Errorf("for a screen reader: %v", bad)
			}
			paper := map[string]string{}
			for _, c := range []string{"light", "dark"} {
				tab.Media("", c)
				paper[c] = chromium.Value[string](tab, `getComputedStyle(document.body).backgroundColor`)
				if low := tab.LowContrast(); len(low) > 0 {
					t.Errorf("%s: too little contrast: %v", c, low)
				}
			}
			if paper["light"] == paper["dark"] {
				t.Errorf("dark is light: %v", paper)
			}
			tab.Media("print", "dark")
			if c := chromium.Value[string](tab, `getComputedStyle(document.body).backgroundColor`); c != "rgb(255, 255, 255)" {
				t.Errorf("printed on %s", c)
			}
			tab.Media("", "")
			if pdf := chromium.Get(tab, chromedp.PrintToPDF()); !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
				t.Errorf("a PDF of %d bytes", len(pdf))
			}
			for _, width := range []int64{1100, 390} {
				tab.Do(chromedp.EmulateViewport(width, 800))
				if wide := chromium.Value[int64](tab, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("on a screen of %d, the page is %d wide: %s", width, wide, chromium.Value[string](tab, fmt.Sprintf(`[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > %d && !e.closest(".scroll,pre")).slice(0,5).map(e => e.outerHTML.slice(0,120)).join("\n")`, width)))
				}
				if cut := chromium.Value[bool](tab, `[...document.querySelectorAll(".designs")].some(e => e.scrollWidth > e.parentElement.clientWidth + 1)`); cut && width > 700 {
					t.Errorf("on a screen of %d the table of designs is cut", width)
				}
				if width < 700 {
					if cut := chromium.Value[[]string](tab, `[...document.querySelectorAll("pre")].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 60))`); len(cut) > 0 {
						t.Errorf("on a screen of %d these are cut: %q", width, cut)
					}
				}
			}
			if empty := chromium.Value[[]string](tab, `[...document.querySelectorAll("main h2, main h3")].filter(h => !h.nextElementSibling || /^H[123]$/.test(h.nextElementSibling.tagName) || h.nextElementSibling.textContent.trim() === "").map(h => h.textContent)`); len(empty) > 0 {
				t.Errorf("headings with nothing below: %q", empty)
			}
			tab.Keys("\t")
			if skip := chromium.Value[string](tab, `document.activeElement.className`); skip != "skip" {
				t.Errorf("the first Tab is at %q", skip)
			}
			tab.Keys("\r")
			tab.Until(`location.hash.length > 1 && document.activeElement.id === location.hash.slice(1)`)
			overlaps := chromium.Value[[]string](tab, overlapping)
			if len(overlaps) > 0 {
				t.Errorf("words over words: %v", overlaps)
			}
			if dir := os.Getenv("REPORT_SHOTS"); dir != "" {
				tab.Do(chromedp.EmulateViewport(1100, 800))
				if err := os.WriteFile(filepath.Join(dir, name+".png"), chromium.Get(tab, chromedp.FullScreenshot(100)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// overlapping lists texts of one drawing that lie over each other.
const overlapping = `[...document.querySelectorAll("svg")].flatMap(svg => {
  const boxes = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]).filter(b => b[1].width > 0);
  const out = [];
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const a = boxes[i][1], b = boxes[j][1];
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) out.push(boxes[i][0] + " / " + boxes[j][0]);
  }
  return out.slice(0, 4);
})`
