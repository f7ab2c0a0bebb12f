// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

func TestMain(m *testing.M) { leak.Main(m) }

// echo is a store that answers a request's body, and fails if the body says so.
type echo struct{}

func (echo) Has(operation string) bool { return operation == "Echo" }

func (echo) Do(_ context.Context, _ string, body, dst []byte) ([]byte, error) {
	switch string(body) {
	case `"panic"`:
		panic("as asked")
	case `"refuse"`:
		return dst, exception.New(exception.ConditionalCheckFailed, "no")
	case `"fail"`:
		return dst, errors.New("a secret of the store")
	}
	return append(dst, body...), nil
}

// serve serves a door in each way in which clients may connect to it.
func serve(t *testing.T) (plain, prior, secure *http.Client, base, secureBase string) {
	t.Helper()
	start := func(o Options) string {
		o.Store = echo{}
		d, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- d.Serve(ln) }()
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			if err := errors.Join(d.Shutdown(ctx), <-ended); err != nil {
				t.Error(err)
			}
		})
		return ln.Addr().String()
	}
	// httptest has a certificate that its client trusts.
	lender := httptest.NewUnstartedServer(nil)
	lender.StartTLS()
	certificate := lender.TLS.Certificates
	roots := lender.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	lender.Close()

	base = "http://" + start(Options{})
	secureBase = "https://" + start(Options{TLS: &tls.Config{Certificates: certificate}})
	client := func(set func(p *http.Protocols)) *http.Client {
		var p http.Protocols
		set(&p)
		tr := &http.Transport{Protocols: &p, TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	plain = client(func(p *http.Protocols) { p.SetHTTP1(true) })
	prior = client(func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
	secure = client(func(p *http.Protocols) { p.SetHTTP2(true) })
	return plain, prior, secure, base, secureBase
}

const signed = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00"

func request(t *testing.T, base, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("POST", base+"/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Echo")
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization", signed)
	return r
}

func answer(t *testing.T, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if crc := resp.Header.Get("x-amz-crc32"); resp.StatusCode != http.StatusRequestEntityTooLarge && len(body) > 0 &&
		crc != strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10) {
		t.Errorf("x-amz-crc32 %q is not that of %q", crc, body)
	}
	return resp, string(body)
}

func TestProtocols(t *testing.T) {
	plain, prior, secure, base, secureBase := serve(t)
	for _, c := range []struct {
		name   string
		client *http.Client
		base   string
		major  int
	}{{"HTTP/1.1", plain, base, 1}, {"HTTP/2 with prior knowledge", prior, base, 2}, {"HTTP/2 over TLS", secure, secureBase, 2}, {"HTTP/1.1 over TLS", plain, secureBase, 1}} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // on one connection
				resp, body := answer(t, c.client, request(t, c.base, `{"a": 1}`))
				if resp.StatusCode != 200 || body != `{"a": 1}` || resp.ProtoMajor != c.major {
					t.Errorf("%s %q by HTTP/%d", resp.Status, body, resp.ProtoMajor)
				}
				if id := resp.Header.Get("x-amzn-RequestId"); len(id) != 52 {
					t.Errorf("request id %q", id)
				}
				if ct := resp.Header.Get("Content-Type"); ct != "application/x-amz-json-1.0" {
					t.Errorf("content type %q", ct)
				}
			}
		})
	}
}

// TestRefusals checks that the answers are AWS's, as dynalite has recorded them.
func TestRefusals(t *testing.T) {
	plain, _, _, base, _ := serve(t)
	const coral = `{"__type":"com.amazon.coral.service#`
	for _, c := range []struct {
		name   string
		body   string
		change func(r *http.Request)
		status int
		answer string
	}{
		{"health check", "", func(r *http.Request) { r.Method = "GET" }, 200, "healthy: dynamodb.us-east-1.amazonaws.com "},
		{"method", "{}", func(r *http.Request) { r.Method = "PUT" }, 404, "<UnknownOperationException/>\n"},
		{"content type", "{}", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 404, "<UnknownOperationException/>\n"},
		{"no JSON", "{", nil, 200, "{"}, // the store reports it
		{"no JSON, and no operation", "{", func(r *http.Request) { r.Header.Del("X-Amz-Target") }, 400, coral + `SerializationException"}`},
		{"no body", "", nil, 400, coral + `SerializationException"}`},
		{"no operation", "{}", func(r *http.Request) { r.Header.Del("X-Amz-Target") }, 400, coral + `UnknownOperationException"}`},
		{"unknown operation", "{}", func(r *http.Request) { r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Ecco") }, 400, coral + `UnknownOperationException"}`},
		{"unknown version", "{}", func(r *http.Request) { r.Header.Set("X-Amz-Target", "DynamoDB_20120811.Echo") }, 400, coral + `UnknownOperationException"}`},
		{"no signature", "{}", func(r *http.Request) { r.Header.Del("Authorization") }, 400,
			coral + `MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"another signature", "{}", func(r *http.Request) { r.Header.Set("Authorization", "Basic YTpi") }, 400,
			coral + `MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"two signatures", "{}", func(r *http.Request) { r.URL.RawQuery = "X-Amz-Algorithm=x" }, 400,
			coral + `InvalidSignatureException","message":"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."}`},
		{"two headers", "{}", func(r *http.Request) { r.Header.Add("Authorization", signed) }, 400,
			coral + `InvalidSignatureException","message":"Found more than one 'Authorization' HTTP header."}`},
		{"an empty header before another", "{}", func(r *http.Request) { r.Header["Authorization"] = []string{"", signed} }, 400,
			coral + `InvalidSignatureException","message":"Found more than one 'Authorization' HTTP header."}`},
		{"an empty header and a query", "{}", func(r *http.Request) {
			r.Header.Set("Authorization", "")
			r.URL.RawQuery = "X-Amz-Algorithm=x"
		}, 400, coral + `InvalidSignatureException","message":"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."}`},
		{"half a signature", "{}", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Signature=b")
			r.Header.Del("X-Amz-Date")
		}, 400,
			coral + `IncompleteSignatureException","message":"Authorization header requires 'Credential' parameter. Authorization header requires 'SignedHeaders' parameter. ` +
				`Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 Signature=b"}`},
		{"half a query signature", "{}", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "X-Amz-Algorithm=x&X-Amz-Date=y&X-Amz-Signature=z"
		}, 400,
			coral + `IncompleteSignatureException","message":"AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string parameters."}`},
		{"scope", "{}", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/b/c/d, SignedHeaders=host, Signature=00")
		}, 400, coral + `IncompleteSignatureException","message":"Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'a/b/c/d'"}`},
		{"algorithm", "{}", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA25 Credential=a/b/c/d/e, SignedHeaders=host, Signature=00")
		}, 400, coral + `IncompleteSignatureException","message":"Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25'. "}`},
		{"a store that refuses", `"refuse"`, nil, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}`},
		{"a store that fails", `"fail"`, nil, 500, ""},
		{"a bug", `"panic"`, nil, 500, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request(t, base, c.body)
			if c.change != nil {
				c.change(r)
			}
			resp, body := answer(t, plain, r)
			if resp.StatusCode != c.status || c.answer != "" && body != c.answer {
				t.Errorf("%s %q, not %d %q", resp.Status, body, c.status, c.answer)
			}
			if strings.Contains(body, "secret") || strings.Contains(body, "as asked") {
				t.Errorf("the client is told: %s", body)
			}
			if resp.Header.Get("x-amzn-RequestId") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestBodyIsBounded(t *testing.T) {
	plain, _, _, base, _ := serve(t)
	long := `"` + strings.Repeat("x", 16<<20) + `"`
	for _, known := range []bool{true, false} {
		r := request(t, base, long)
		if !known {
			r.ContentLength = -1
		}
		resp, err := plain.Do(r)
		if err != nil {
			continue // the door has closed the connection before all was sent
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s", resp.Status)
		}
	}
	just := long[:16<<20-1] + `"`
	if resp, body := answer(t, plain, request(t, base, just)); resp.StatusCode != 200 || body != just {
		t.Errorf("%s: %d bytes", resp.Status, len(body))
	}
}

// TestCompressedAnswers checks that answers of four kilobytes are compressed if the client accepts
// that, like AWS's. The choices are those that ScyllaDB's Alternator tests found for AWS.
func TestCompressedAnswers(t *testing.T) {
	plain, _, _, base, _ := serve(t)
	long := `"` + strings.Repeat("abcd", 1024) + `"`
	for accept, want := range map[string]string{
		"": "", "identity": "", "br": "", "zstd": "", "compress": "", "x-gzip": "", "gzip": "gzip", "deflate": "deflate",
		"gzip, deflate": "gzip", "br, identity, deflate, gzip": "deflate", "GZIP, identity": "gzip", "dog, gzip ,, cat": "gzip", "gzip;q=0.8, deflate;q=0.5": "gzip",
		"br, gzip;q=0, deflate; q = 0.5 , identity;q=0": "deflate", "*": "gzip", "*, deflate;q=0.5": "gzip", "*, deflate": "deflate", "*, identity": "gzip", "*, gzip;q=0.5": "deflate",
		"gzip ;q=0": "", "identity;q=0": "", "*;q=0": "", "*;q=0.5,identity": "gzip", "gzip;q=0.5,identity;q=0.8": "gzip", "br;q=0.8,identity;q=0.5,*;q=0": "",
		`"gzip"`: "", "gzip br": "", "gzip:q=1": "", "deflate;q=0.5, gzip;q=31": "gzip", "gzip;q=31,deflate;q=51": "gzip", "deflate;q=0.5, gzip;q=0.2": "deflate",
		"deflate;q=0.5, gzip;q=1;q=0.2": "gzip", "deflate;q=0.5,gzip;q=0.": "deflate", "deflate;q=0.5,gzip;q=0.x": "gzip", "deflate;q=-0.5,gzip;q=0.2": "gzip", "gzip;nq=1;q=0 ": "",
		"gzip;q=0, gzip;q=1, gzip;q=0": "gzip", "br,identity;q=0.5,gzip;q=0.0001": "gzip",
	} {
		r := request(t, base, long)
		r.Header.Set("Accept-Encoding", accept)
		resp, body := answer(t, plain, r)
		coding := resp.Header.Get("Content-Encoding")
		if coding != want {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, not %q", accept, coding, want)
			continue
		}
		if sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10); resp.Header.Get("X-Amz-Crc32") != sum {
			t.Errorf("Accept-Encoding %q: the checksum is not of the bytes that are sent", accept)
		}
		var from io.Reader = strings.NewReader(body)
		var err error
		switch coding {
		case "gzip":
			from, err = gzip.NewReader(from)
		case "deflate":
			from, err = zlib.NewReader(from)
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(from); err != nil || string(text) != long {
			t.Errorf("Accept-Encoding %q: another body, %v", accept, err)
		}
	}
	r := request(t, base, `"`+strings.Repeat("x", 4093)+`"`)
	r.Header.Set("Accept-Encoding", "gzip")
	if resp, _ := answer(t, plain, r); resp.Header.Get("Content-Encoding") != "" {
		t.Error("a short body is compressed")
	}
}

// compressed returns text in a coding.
func compressed(t *testing.T, coding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var to io.WriteCloser = gzip.NewWriter(&b)
	switch coding {
	case "deflate":
		to = zlib.NewWriter(&b)
	case "bare deflate":
		f, err := flate.NewWriter(&b, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		to = f
	}
	if _, err := io.WriteString(to, text); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompressedRequests checks that requests may be compressed. However short the compressed form
// is, the body must not be longer than other bodies. A body that cannot be decompressed is the
// client's error. (AWS reads only gzip, has no limit there, and reports its own failure.)
func TestCompressedRequests(t *testing.T) {
	plain, _, _, base, _ := serve(t)
	const text = `{"a":"b"}`
	whole := compressed(t, "gzip", text)
	huge := 200 << 20
	if testing.Short() {
		huge = 20 << 20
	}
	for _, c := range []struct {
		coding, body string
		status       int
	}{
		{"gzip", whole, 200}, {"GZIP ", whole, 200}, {"deflate", compressed(t, "deflate", text), 200}, {"deflate", compressed(t, "bare deflate", text), 200},
		{"gzip", compressed(t, "gzip", text[:3]) + compressed(t, "gzip", text[3:]), 200}, {"identity", text, 200},
		{"gzip", text, 400}, {"garbage", text, 400}, {"gzip", whole[:len(whole)-1], 400}, {"gzip", "", 400}, {"gzip", whole + "junk", 400}, {"br", whole, 400},
		{"gzip", compressed(t, "gzip", `"`+strings.Repeat(" ", 20<<20)+`"`), 413}, {"deflate", compressed(t, "deflate", strings.Repeat(" ", huge)), 413},
	} {
		r := request(t, base, c.body)
		r.Header.Set("Content-Encoding", c.coding)
		resp, body := answer(t, plain, r)
		if resp.StatusCode != c.status || c.status == 200 && body != text || c.status == 400 && !strings.Contains(body, "SerializationException") {
			t.Errorf("%s of %d bytes: %s %.200s, not %d", c.coding, len(c.body), resp.Status, body, c.status)
		}
	}
	just := `"` + strings.Repeat("x", 16<<20-2) + `"`
	r := request(t, base, compressed(t, "gzip", just))
	r.Header.Set("Content-Encoding", "gzip")
	if resp, body := answer(t, plain, r); resp.StatusCode != 200 || body != just {
		t.Errorf("%s: %d bytes", resp.Status, len(body))
	}
}

func TestOrigin(t *testing.T) {
	plain, _, _, base, _ := serve(t)
	for _, method := range []string{"OPTIONS", "GET", "POST"} {
		for _, origin := range []string{"", "http://page"} {
			r := request(t, base, "")
			r.Method = method
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
			r.Header.Set("Access-Control-Request-Method", "dog")
			r.Header.Set("Access-Control-Request-Headers", "x-amz-target, cat")
			resp, _ := answer(t, plain, r)
			asked := method == "OPTIONS" && origin != ""
			for name, want := range map[string]string{
				"Access-Control-Allow-Origin": map[bool]string{true: "*"}[origin != ""], "Access-Control-Max-Age": map[bool]string{true: "172800"}[asked],
				"Access-Control-Allow-Methods": map[bool]string{true: "dog"}[asked], "Access-Control-Allow-Headers": map[bool]string{true: "x-amz-target, cat"}[asked],
			} {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s from %q: %s %q, not %q", method, origin, name, got, want)
				}
			}
			if (resp.Header.Get("Access-Control-Expose-Headers") != "") != (origin != "") || asked && resp.StatusCode != 200 {
				t.Errorf("%s from %q: %s %v", method, origin, resp.Status, resp.Header)
			}
		}
	}
}

func TestStatsAndOptions(t *testing.T) {
	if _, err := New(Options{MaxBody: -1, MaxInFlight: -1}); err == nil ||
		!strings.Contains(err.Error(), "no store") || !strings.Contains(err.Error(), "body") || !strings.Contains(err.Error(), "flight") {
		t.Errorf("got %v", err)
	}
	d, err := New(Options{Store: echo{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{}`, `"panic"`, `{`} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Echo")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		if body != `{` {
			r.Header.Set("Authorization", signed)
			r.Header.Set("Date", "now")
		}
		d.ServeHTTP(httptest.NewRecorder(), r)
	}
	if s := d.Stats(); s != (Stats{Requests: 2, Refused: 1, Panics: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestShutdownWaits(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	d, err := New(Options{Store: waiting{inside, goOn}})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve(ln) }()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	got := make(chan string, 1)
	go func() {
		resp, err := (&http.Client{Transport: tr}).Do(request(t, "http://"+ln.Addr().String(), "{}"))
		if err != nil {
			got <- err.Error()
			return
		}
		defer resp.Body.Close()
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		got <- b.String()
	}()
	<-inside
	down := make(chan error, 1)
	go func() { down <- d.Shutdown(context.Background()) }()
	if err := <-served; err != nil {
		t.Error(err)
	}
	close(goOn)
	if body := <-got; body != "done" {
		t.Errorf("the request in flight got %q", body)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

type waiting struct{ inside, goOn chan struct{} }

func (waiting) Has(string) bool { return true }

func (w waiting) Do(_ context.Context, _ string, _, dst []byte) ([]byte, error) {
	close(w.inside)
	<-w.goOn
	return append(dst, "done"...), nil
}

// asker is a store that answers with the principal of the request.
type asker struct{}

func (asker) Has(string) bool { return true }

func (asker) Do(ctx context.Context, _ string, _, dst []byte) ([]byte, error) {
	return append(dst, principal.Of(ctx).String()...), nil
}

func TestAccessKeys(t *testing.T) {
	keys, err := accesskey.Parse([]byte("- access-key: AKIDA\n  secret-key: 0123456789abcdef\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	d, err := New(Options{Store: asker{}, Keys: keys, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(id, secret, body, sent string) string {
		r := httptest.NewRequest("POST", "/", strings.NewReader(sent))
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Echo")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		sum := sha256.Sum256([]byte(body))
		c := aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}
		if err := v4.NewSigner().SignHTTP(t.Context(), c, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", now); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		return w.Body.String()
	}
	if got := ask("AKIDA", "0123456789abcdef", "{}", "{}"); got != "AKIDA" {
		t.Error(got)
	}
	for _, got := range []string{ask("AKIDA", "other", "{}", "{}"), ask("AKIDB", "0123456789abcdef", "{}", "{}"), ask("AKIDA", "0123456789abcdef", "{}", "{ }")} {
		if !strings.Contains(got, "Exception") || strings.Contains(got, "AKIDA") {
			t.Error(got)
		}
	}
	open, err := New(Options{Store: asker{}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Echo")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("Authorization", signed)
	r.Header.Set("Date", "now")
	w := httptest.NewRecorder()
	if open.ServeHTTP(w, r); w.Body.String() != "the door" {
		t.Error(w.Body)
	}
}

// slow is a store whose operations take a while, unless their context ends.
type slow time.Duration

func (slow) Has(string) bool { return true }

func (s slow) Do(ctx context.Context, _ string, _, dst []byte) ([]byte, error) {
	select {
	case <-time.After(time.Duration(s)):
		return append(dst, "{}"...), nil
	case <-ctx.Done():
		return dst, ctx.Err()
	}
}

// TestLongOperations checks that the deadlines of connections do not end an operation that reads a
// whole table, but do end others.
func TestLongOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := New(Options{Store: slow(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		ln := loopback.NewMemory()
		served := make(chan error, 1)
		go func() { served <- d.Serve(ln) }()
		for operation, lasts := range map[string]bool{"TagResource": true, "GetItem": false} {
			r := request(t, "http://door", "{}")
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
			client := http.Client{Transport: &http.Transport{DialContext: ln.Dial}}
			resp, err := client.Do(r)
			if err == nil {
				_ = resp.Body.Close()
			}
			client.CloseIdleConnections()
			if lasts != (err == nil && resp.StatusCode == http.StatusOK) {
				t.Errorf("%s: %v %v", operation, resp, err)
			}
		}
		if err := d.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
