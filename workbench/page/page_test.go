// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/workbench/page"
)

// TestWhoIsAnswered checks that only the page itself gets answers, whatever a request looks like.
func TestWhoIsAnswered(t *testing.T) {
	_, url := serve(t)
	host := strings.Trim(strings.TrimPrefix(url, "http://"), "/")
	port := host[strings.LastIndexByte(host, ':'):]
	for _, c := range []struct {
		method, path string
		host, origin string
		site, mode   string
		want         int
	}{
		{"GET", "", host, "", "", "", 200},
		{"GET", "", "localhost" + port, "", "none", "navigate", 200},
		{"GET", "", "[::1]" + port, "", "", "", 200},
		{"GET", "", host, "", "cross-site", "navigate", 200}, // a link
		{"GET", "", "evil.example", "", "", "", 403},
		{"GET", "", "127.0.0.1.evil.example" + port, "", "same-origin", "", 403},
		{"GET", "", "localhost.evil.example", "", "", "", 403},
		{"GET", "workbench/page.js", "evil.example" + port, "", "", "", 403},
		{"GET", "workbench/page.js", host, "", "cross-site", "no-cors", 403},
		{"GET", "workbench/page.js", host, "", "same-site", "no-cors", 403},
		{"POST", "workbench/data?name=a.csv", host, "http://" + host, "same-origin", "cors", 200},
		{"POST", "workbench/data?name=a.csv", host, "http://evil.example", "", "", 403},
		{"POST", "workbench/data?name=a.csv", host, "http://localhost:1", "", "", 403},
		{"POST", "workbench/data?name=a.csv", host, "null", "", "", 403},
		{"POST", "workbench/data?name=a.csv", "evil.example", "http://evil.example", "same-origin", "", 403},
		{"POST", "workbench/live", host, "http://evil.example", "", "", 403},
		{"PUT", "workbench/data?name=a.csv", host, "", "", "", 405},
		{"GET", "workbench/", host, "", "", "", 404},
	} {
		r, err := http.NewRequest(c.method, url+c.path, strings.NewReader("a,b\n1,2\n"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		for name, v := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site, "Sec-Fetch-Mode": c.mode} {
			if v != "" {
				r.Header.Set(name, v)
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%+v: %s", c, resp.Status)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%+v: %v", c, resp.Header)
		}
	}
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestLiveWantsTheToken checks that a live table needs the token: without it, no connection is even
// tried.
func TestLiveWantsTheToken(t *testing.T) {
	p, url := serve(t)
	const address = `"cql://127.0.0.1:1/ks.t"`
	for _, token := range []string{"", "wrong", p.Token() + "x", p.Token()[:10]} {
		if status, text := post(t, url+"workbench/live", `{"address":`+address+`,"token":"`+token+`"}`); status != 403 || !strings.Contains(text, "token") {
			t.Errorf("%q: %d %s", token, status, text)
		}
	}
	if status, text := post(t, url+"workbench/live", `{"address":`+address+`,"token":"`+p.Token()+`"}`); status != 422 || !strings.Contains(text, "127.0.0.1:1") {
		t.Errorf("with the token: %d %s", status, text)
	}
	if a, b := page.New(page.Options{}).Token(), page.New(page.Options{}).Token(); a == b || len(a) < 20 {
		t.Errorf("tokens %q, %q", a, b)
	}
}

func TestUploadsAreBounded(t *testing.T) {
	_, url := serve(t)
	r, err := http.NewRequest("POST", url+"workbench/data?name=big.csv", io.LimitReader(zeros{}, page.MaxUpload+1))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = page.MaxUpload + 1
	r.Header.Set("Expect", "100-continue") // so that the refusal comes before the body, also for slow clients
	patient := &http.Transport{ExpectContinueTimeout: time.Hour}
	defer patient.CloseIdleConnections()
	resp, err := patient.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 413 || !strings.Contains(string(b), "up to 256 MB") || !strings.Contains(string(b), "evenkeel advise big.csv") {
		t.Errorf("%s %s", resp.Status, b)
	}
	r, _ = http.NewRequest("POST", url+"workbench/data?name=a.csv", io.NopCloser(strings.NewReader("a\n1\n")))
	r.ContentLength = -1
	if resp, err = http.DefaultClient.Do(r); err != nil || resp.StatusCode != 411 {
		t.Errorf("of unknown length: %v %v", resp, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestForget checks that forgotten data are gone. A request for data that never existed gets an
// error with a way out.
func TestForget(t *testing.T) {
	_, url := serve(t)
	resp, err := http.Post(url+"workbench/data?name=../../etc/a.csv", "text/csv", strings.NewReader("a,b\n1,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	_, id, _ := strings.Cut(string(b), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if len(id) < 20 || !strings.Contains(string(b), `"name":"a.csv"`) {
		t.Fatalf("%s", b)
	}
	ask := `{"id":"` + id + `"}`
	if status, text := post(t, url+"workbench/advise", ask); status != 200 || !strings.Contains(text, `"html"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := post(t, url+"workbench/compare", `{"id":"`+id+`","designs":[99]}`); !strings.Contains(text, "no design 99") {
		t.Errorf("%d %s", status, text)
	}
	post(t, url+"workbench/forget?id="+id, "")
	for _, path := range []string{"advise", "compare"} {
		if status, text := post(t, url+"workbench/"+path, ask); status != 410 || !strings.Contains(text, "drop the file in again") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}
