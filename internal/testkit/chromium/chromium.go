// SPDX-License-Identifier: Apache-2.0

// Package chromium opens pages in a real headless browser for tests. `make deps` installs Chromium
// (Debian's package) if it can.
//
// A tab watches the page. A request to another host than the page's own, an error on the console,
// or an exception fails the test.
//
// It imports internal/testkit/deps.
package chromium

import (
	"context"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
)

// patience is the longest time that a page may take for one action.
const patience = 3 * time.Minute

// Browser is a running browser.
type Browser struct{ ctx context.Context }

// Start starts a browser for the duration of the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := deps.Chromium()
	if err != nil {
		t.Fatalf("this test opens a page in a browser: %v", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("disable-gpu", true), chromedp.Flag("no-proxy-server", true),
		chromedp.WSURLReadTimeout(patience)) // a loaded machine takes long to start a browser
	if os.Getuid() == 0 { // the browser's sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		end()
		stop()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return &Browser{ctx}
}

// Tab is an open page.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	host string

	mu       sync.Mutex
	requests []string
	bad      []string
}

// Open opens a page in its own tab and session.
func (b *Browser) Open(t testing.TB, address string) *Tab {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, ctx: ctx, host: u.Host}
	t.Cleanup(func() {
		end()
		tab.mu.Lock()
		defer tab.mu.Unlock()
		for _, what := range tab.bad {
			t.Errorf("%s: %s", address, what)
		}
	})
	if err := chromedp.Listen(ctx, tab.watch); err != nil {
		t.Fatal(err)
	}
	call(tab, network.Enable, network.EnableParams{})
	call(tab, runtime.Enable, cdp.Empty{})
	call(tab, log.Enable, cdp.Empty{})
	tab.Do(chromedp.EmulateViewport(1100, 900))
	tab.Do(chromedp.Navigate(address))
	return tab
}

// watch records the page's requests and errors.
func (tab *Tab) watch(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.Method+" "+e.Request.URL)
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != tab.host && u.Scheme != "data" && u.Scheme != "file" {
			tab.bad = append(tab.bad, "a request to elsewhere: "+e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		tab.bad = append(tab.bad, "an exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			tab.bad = append(tab.bad, "an error on the console")
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			tab.bad = append(tab.bad, "an error on the console: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Forgive removes the errors so far, which the test expected, and returns them.
func (tab *Tab) Forgive() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	bad := tab.bad
	tab.bad = nil
	return bad
}

// Requests returns the page's requests: methods and addresses.
func (tab *Tab) Requests() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string{}, tab.requests...)
}

// Do carries out actions in the page.
func (tab *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.t.Fatalf("in the page: %v", err)
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](tab *Tab, command cdp.Command[P, R], params P) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		tab.t.Fatalf("in the page: %v", err)
	}
}

// Get returns the value of an action.
func Get[T any](tab *Tab, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("in the page: %v", err)
	}
	return v
}

// Value returns the value of an expression in the page.
func Value[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	return Get(tab, chromedp.Evaluate[T](expression))
}

// Text returns the visible text of an element.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return Value[string](tab, "document.querySelector("+quoted(selector)+").innerText")
}

// Until waits for an expression in the page to become true.
func (tab *Tab) Until(expression string) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience); !Value[bool](tab, "!!("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tab.t.Fatalf("in the page, this does not come true: %s\n%s", expression, Value[string](tab, "document.body.innerText"))
		}
	}
}

// Drop drops a file from the disk on the page, as the mouse does.
func (tab *Tab) Drop(file string) {
	tab.t.Helper()
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{file}, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		call(tab, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 200, Y: 200, Data: data})
	}
}

// Media makes the page behave as if printed ("print"), and with the given colour scheme ("dark",
// "light"). "" restores the default.
func (tab *Tab) Media(media, colours string) {
	tab.t.Helper()
	p := emulation.SetEmulatedMediaParams{Media: media}
	if colours != "" {
		p.Features = []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}}
	}
	call(tab, emulation.SetEmulatedMedia, p)
}

// Keys presses keys one after another: "\t" is Tab, "\r" Enter.
func (tab *Tab) Keys(keys string) {
	tab.t.Helper()
	tab.Do(chromedp.KeyEvent(keys))
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
