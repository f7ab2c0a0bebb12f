// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/budget"
)

// talker is a store that answers "long" with five megabytes, and any other body with the body
// itself.
type talker struct{}

func (talker) Has(string) bool { return true }

func (talker) Do(_ context.Context, _ string, body, dst []byte) ([]byte, error) {
	if string(body) == `"long"` {
		return append(dst, bytes.Repeat([]byte("x"), 5<<20)...), nil
	}
	return append(dst, body...), nil
}

// narrow returns a door with room for two bodies of a megabyte, besides the room for short
// requests.
func narrow(t *testing.T, patience time.Duration) *Door {
	t.Helper()
	d, err := New(Options{Store: talker{}, MaxBody: 1 << 20, Memory: budget.New(10<<20, patience)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// given fails the test unless the door's requests have given back the memory that they held.
func given(t *testing.T, d *Door) {
	t.Helper()
	if s := d.options.Memory.Stats(); s.Held != 0 || s.Requests != 0 || s.Waiting != 0 {
		t.Errorf("%d bytes are held by %d requests, %d wait", s.Held, s.Requests, s.Waiting)
	}
}

// upload is a request whose body arrives in pieces.
type upload struct {
	body *io.PipeWriter
	done chan *httptest.ResponseRecorder
}

func ask(d *Door, operation string, body io.Reader, w http.ResponseWriter) {
	r := httptest.NewRequest("POST", "/", body)
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", signed)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	d.ServeHTTP(w, r)
}

func begin(d *Door) *upload {
	r, w := io.Pipe()
	u := &upload{w, make(chan *httptest.ResponseRecorder, 1)}
	go func() {
		answer := httptest.NewRecorder()
		ask(d, "PutItem", r, answer)
		_ = r.Close()
		u.done <- answer
	}()
	return u
}

func (u *upload) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(u.body, text); err != nil {
		t.Error(err)
	}
}

func (u *upload) end() *httptest.ResponseRecorder {
	_ = u.body.Close()
	return <-u.done
}

// TestLongBodiesWaitForRoom checks that bodies that arrive slowly keep at most the budget's memory.
// Later long requests wait, and short requests do not.
func TestLongBodiesWaitForRoom(t *testing.T) {
	d := narrow(t, time.Minute)
	part := strings.Repeat("x", 900<<10)
	var slow [5]*upload
	for i := range 2 {
		slow[i] = begin(d)
		slow[i].send(t, part[1:])
		slow[i].send(t, "x") // the door reads this once there was room
	}
	waits := make(chan int, len(slow))
	for i := 2; i < len(slow); i++ {
		slow[i] = begin(d)
		slow[i].send(t, part[:shortBytes]) // the door takes this without counting it
		go func() {
			slow[i].send(t, part[shortBytes:])
			waits <- i
		}()
	}
	w := httptest.NewRecorder()
	if ask(d, "PutItem", strings.NewReader(`"short"`), w); w.Code != http.StatusOK {
		t.Errorf("a short request: %d %s", w.Code, w.Body)
	}
	select {
	case i := <-waits:
		t.Errorf("body %d is read, beyond what the budget has", i)
	case <-time.After(50 * time.Millisecond):
	}
	for i := range slow {
		if i >= 2 {
			i = <-waits // the order in which they waited is unknown
		}
		if w := slow[i].end(); w.Code != http.StatusOK || w.Body.Len() != len(part) {
			t.Errorf("body %d: %d, %d bytes", i, w.Code, w.Body.Len())
		}
	}
	given(t, d)
}

func TestLongBodiesAreRefusedInTheEnd(t *testing.T) {
	d := narrow(t, time.Millisecond)
	first, second := begin(d), begin(d)
	part := strings.Repeat("x", 900<<10)
	for _, u := range []*upload{first, second} {
		u.send(t, part)
		u.send(t, "x") // the door reads this once there was room
	}
	third := begin(d)
	third.send(t, part)
	w := third.end()
	//lint:ignore SA1008 the door writes the header in lower case, as DynamoDB does
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "ServiceUnavailableException") || len(w.Header()["x-amz-crc32"]) == 0 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
	for _, u := range []*upload{first, second} {
		if w := u.end(); w.Code != http.StatusOK {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
	}
	if s := d.Stats(); s.Refused != 1 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
}

// untaken is the connection of a client that does not take its answer.
type untaken struct {
	*httptest.ResponseRecorder
	written, end chan struct{}
}

func (u untaken) Write(p []byte) (int, error) {
	close(u.written)
	<-u.end
	return 0, context.DeadlineExceeded
}

// TestAnswersThatAreNotTaken checks that answers that nobody takes keep at most the budget's
// memory. Further reads are refused; writes, which have happened, are not.
func TestAnswersThatAreNotTaken(t *testing.T) {
	d := narrow(t, time.Millisecond)
	u := untaken{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		ask(d, "Query", strings.NewReader(`"long"`), u)
		close(ended)
	}()
	<-u.written
	for operation, status := range map[string]int{"Scan": http.StatusServiceUnavailable, "PutItem": http.StatusOK} {
		w := httptest.NewRecorder()
		if ask(d, operation, strings.NewReader(`"long"`), w); w.Code != status {
			t.Errorf("%s: %d, not %d", operation, w.Code, status)
		}
	}
	close(u.end)
	<-ended
	w := httptest.NewRecorder()
	if ask(d, "Scan", strings.NewReader(`"long"`), w); w.Code != http.StatusOK || w.Body.Len() != 5<<20 {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// TestBodiesThatAreNotRead checks that a client that announces too long a body and waits for the
// answer gets it. A body that breaks off is not too long.
func TestBodiesThatAreNotRead(t *testing.T) {
	_, _, _, base, _ := serve(t)
	for _, c := range []struct {
		headers, body string
		end           bool // the client sends no more
		want          string
	}{
		{"Content-Length: 999999999\r\n", "{", false, "413 "},
		{"Content-Length: 999999999\r\nExpect: 100-continue\r\n", "", false, "413 "},
		{"Content-Length: 100\r\n", "{", true, "400 "},
		{"Transfer-Encoding: chunked\r\n", "no chunk\r\n", false, "400 "},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // for a door that waits for more; no door is that slow
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n%s", c.headers, c.body)
		if c.end {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		answer := make([]byte, 13)
		if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 "+c.want {
			t.Errorf("%q: %q, %v, not %s", c.headers, answer, err, c.want)
		}
		_ = conn.Close()
	}
}

// stalling is a store that answers when the client has disconnected.
type stalling struct{ begun chan struct{} }

func (stalling) Has(string) bool { return true }

func (s stalling) Do(ctx context.Context, operation string, _, dst []byte) ([]byte, error) {
	close(s.begun)
	<-ctx.Done()
	return dst, fmt.Errorf("%s: %w", operation, ctx.Err())
}

// TestHangingUpIsNotLogged checks that a client that disconnects is not logged as the door's error.
func TestHangingUpIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	store := stalling{make(chan struct{})}
	d, err := New(Options{Store: store, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader("{}"))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Query")
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", signed)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	ended := make(chan struct{})
	go func() {
		d.ServeHTTP(httptest.NewRecorder(), r)
		close(ended)
	}()
	<-store.begun
	hangUp()
	if <-ended; log.Len() > 0 {
		t.Errorf("%s", &log)
	}
}

// counted is a store that notes how much is held while it works, and answers with a megabyte.
type counted struct {
	talker
	memory *budget.Budget
	held   int64
}

func (c *counted) Do(_ context.Context, _ string, _, dst []byte) ([]byte, error) {
	c.held = c.memory.Stats().Held
	return append(dst, bytes.Repeat([]byte("x"), 1<<20)...), nil
}

// counting notes how much is held while the answer is written.
type counting struct {
	*httptest.ResponseRecorder
	memory *budget.Budget
	held   int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.held = max(c.held, c.memory.Stats().Held)
	return c.ResponseRecorder.Write(p)
}

// TestValuesOfABodyCount checks that a body with many short values counts for what they take decoded,
// and that the long answer of a write counts until it is sent.
func TestValuesOfABodyCount(t *testing.T) {
	memory := budget.New(64<<20, time.Millisecond)
	store := &counted{memory: memory}
	d, err := New(Options{Store: store, MaxBody: 1 << 20, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	const values = 100_000
	for _, operation := range []string{"PutItem", "Query"} {
		w := &counting{httptest.NewRecorder(), memory, 0}
		if ask(d, operation, strings.NewReader("["+strings.Repeat(`"1",`, values)+`"1"]`), w); w.Code != http.StatusOK {
			t.Fatalf("%s: %d", operation, w.Code)
		}
		if store.held < values*(4+16+16) {
			t.Errorf("%s: %d bytes are held while it is carried out", operation, store.held)
		}
		if w.held < 1<<20+decodes([]byte(strings.Repeat(`"1",`, values))) {
			t.Errorf("%s: %d bytes are held while the answer is written", operation, w.held)
		}
		given(t, d)
	}
}
