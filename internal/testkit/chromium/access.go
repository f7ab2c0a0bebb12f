// SPDX-License-Identifier: Apache-2.0

package chromium

import "github.com/chromedp/chromedp"

// Readable checks what every page owes its readers: words for a screen reader, contrast in both
// colour schemes, and no more width than the screen has. widths are of screens, in pixels.
func (tab *Tab) Readable(widths ...int64) {
	tab.t.Helper()
	if bad := tab.Unnamed(); len(bad) > 0 {
		tab.t.Errorf("for a screen reader: %v", bad)
	}
	for _, scheme := range []string{"light", "dark"} {
		tab.Media("", scheme)
		if low := tab.LowContrast(); len(low) > 0 {
			tab.t.Errorf("%s: too little contrast: %v", scheme, low)
		}
	}
	tab.Media("", "")
	for _, width := range widths {
		tab.Do(chromedp.EmulateViewport(width, 800))
		if wide := Value[int64](tab, `document.documentElement.scrollWidth`); wide > width {
			tab.t.Errorf("on a screen of %d, the page is %d wide", width, wide)
		}
	}
}

// LowContrast returns the texts of the page whose contrast is below 4.5 (WCAG 2.2, 1.4.3).
func (tab *Tab) LowContrast() []string {
	tab.t.Helper()
	return Value[[]string](tab, contrast)
}

// Unnamed returns elements for which a screen reader finds no words: drawings without a name,
// references to names that do not exist, and duplicate ids.
func (tab *Tab) Unnamed() []string {
	tab.t.Helper()
	return Value[[]string](tab, unnamed)
}

const unnamed = `(() => {
  const seen = {}, out = [];
  for (const e of document.querySelectorAll("[id]")) if (seen[e.id]++ === 0) out.push("id twice: " + e.id); else seen[e.id] = seen[e.id] || 0;
  for (const e of document.querySelectorAll("svg:not([aria-hidden])")) if (e.getAttribute("role") !== "img" || !e.getAttribute("aria-labelledby")) out.push("a drawing without words");
  for (const e of document.querySelectorAll("[aria-labelledby],[aria-describedby]"))
    for (const id of ((e.getAttribute("aria-labelledby") || "") + " " + (e.getAttribute("aria-describedby") || "")).trim().split(/\s+/)) if (!document.getElementById(id)) out.push("names nothing: " + id);
  for (const e of document.querySelectorAll("button,input,select,textarea,a[href]"))
    if (!(e.innerText || e.value || e.getAttribute("aria-label") || (e.labels && e.labels.length))) out.push("no name: " + e.outerHTML.slice(0, 80));
  return out;
})()`

// contrast finds texts whose contrast is below 4.5 (WCAG 2.2, 1.4.3).
const contrast = `(() => {
  const channel = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = c => .2126 * channel(c[0]) + .7152 * channel(c[1]) + .0722 * channel(c[2]);
  const parse = s => (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const paper = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const out = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("[hidden],:disabled,noscript") || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.getClientRects().length === 0) continue;
    const style = getComputedStyle(e), ink = parse(e instanceof SVGElement ? style.fill : style.color);
    const a = light(ink), b = light(paper(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5 && !(e instanceof SVGTitleElement)) out.add(e.tagName + "." + e.getAttribute("class") + " " + ratio.toFixed(2));
  }
  return [...out];
})()`
