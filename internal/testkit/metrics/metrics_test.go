// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSum(t *testing.T) {
	for _, c := range []struct {
		status int
		length string // of the body, if it is not its own
		body   string
		want   float64
		err    string // "": none
	}{
		{200, "", "# TYPE x counter\nx 4\n", 4, ""},
		{200, "", "x{table=\"a b\"} 1\nx{table=\"c\"} 2\nxy 9\n", 3, ""},
		{200, "", "xy 4\n", 0, "there is no metric x"},
		{500, "", "x 4\n", 0, "500"},
		{200, "1000", "x 4\n", 0, "unexpected"}, // the server ended while it answered
		{200, "", "x many\n", 0, "many"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.length != "" {
				w.Header().Set("Content-Length", c.length)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		got, err := Sum(server.Listener.Addr().String(), "x")
		server.Close()
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d %q: %v, %v, want %v, %q", c.status, c.body, got, err, c.want, c.err)
		}
	}
	if _, err := Sum("127.0.0.1:0", "x"); err == nil {
		t.Error("nothing listens, and there is no error")
	}
}
