// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

func TestMain(m *testing.M) { leak.Main(m) }

// endpoint serves h and returns a store on it.
func endpoint(t *testing.T, h http.HandlerFunc, change func(o *Options)) *Store {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return storeOf(t, server.URL, change)
}

func storeOf(t *testing.T, url string, change func(o *Options)) *Store {
	t.Helper()
	at, err := ParseEndpoint(url)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Endpoint: at, Credentials: credentials.NewStaticCredentialsProvider("AKIDDOOR", "s", "token"),
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC) },
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestABodyIsSentAndAnsweredAsItIs(t *testing.T) {
	const body, want = `{ "TableName" : "t","Key":{"a":{"S":"\u00fc"}} }`, `{ "Item": {"a":{"S":"ü"}} }`
	s := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		if string(got) != body || r.Method != "POST" || r.URL.Path != "/" {
			t.Errorf("%s %s %q", r.Method, r.URL, got)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.GetItem", "X-Amz-Date": "20261121T123000Z", "X-Amz-Security-Token": "token",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		if a := r.Header.Get("Authorization"); !strings.HasPrefix(a, "AWS4-HMAC-SHA256 Credential=AKIDDOOR/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=") {
			t.Errorf("Authorization: %s", a)
		}
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(want))), 10))
		fmt.Fprint(w, want)
	}, nil)
	got, err := s.Do(t.Context(), "GetItem", []byte(body), []byte("before "))
	if err != nil || string(got) != "before "+want {
		t.Errorf("%s %v", got, err)
	}
}

func TestDecodedRequests(t *testing.T) {
	s := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		if string(got) != `{"TableName":"t","Key":{"a":{"S":"x"}},"ConsistentRead":true}` {
			t.Errorf("%s", got)
		}
		fmt.Fprint(w, `{"Item":{"a":{"S":"x"}}}`)
	}, nil)
	q := &api.GetItem{Table: "t", Key: attribute.NewItem(attribute.Attribute{Name: "a", Value: attribute.String("x")}), Consistent: true}
	for range 3 { // reuses memory
		err := s.Answer(t.Context(), q, func(r api.Response) error {
			if got := string(r.AppendJSON(nil)); got != `{"Item":{"a":{"S":"x"}}}` {
				t.Error(got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrorsGoOutAsTheyCame(t *testing.T) {
	const body = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no","Item":{"a":{"S":"x"}},"new":1}`
	s := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		fmt.Fprint(w, body)
	}, nil)
	dst, err := s.Do(t.Context(), "PutItem", nil, []byte("x"))
	e := exception.Of(err)
	if e.Kind != exception.ConditionalCheckFailed || string(e.AppendJSON(nil)) != body || e.Status() != 400 || string(dst) != "x" {
		t.Errorf("%q %v %s", dst, err, e.AppendJSON(nil))
	}
}

// TestAnswersThatAreNone lets an endpoint send what is no answer of the API. The store returns an
// error, and SDKs retry after that error.
func TestAnswersThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		kind exception.Kind
		says string
	}{
		"a proxy": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>bad gateway", http.StatusBadGateway)
		}, exception.ServiceUnavailable, "bad gateway"},
		"another crc": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Amz-Crc32", "1"); fmt.Fprint(w, "{}") }, exception.InternalServerError, "x-amz-crc32"},
		"a cut answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{}")
		}, exception.InternalServerError, "lost"},
		"a hang-up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, exception.InternalServerError, "not known"},
		"too long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(MaxAnswer+1))
			w.WriteHeader(200)
		}, exception.InternalServerError, "longer than 64 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			s := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				n.Add(1)
				c.h(w, r)
			}, nil)
			_, err := s.Do(t.Context(), "PutItem", []byte(`{}`), nil)
			var e *exception.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
				t.Errorf("%v", err)
			}
			if got := n.Load(); got != 1 {
				t.Errorf("a write was sent %d times", got)
			}
		})
	}
}

// TestSilence checks that an endpoint that does not answer in time gets the request only once.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			_, _ = io.ReadAll(r.Body) // otherwise the server does not notice that the client has gone
			<-r.Context().Done()
		})}
		ln := loopback.NewMemory()
		go server.Serve(ln)
		defer server.Close()
		transport := &http.Transport{DialContext: ln.Dial}
		defer transport.CloseIdleConnections()
		s := storeOf(t, "http://127.0.0.1:8000", func(o *Options) { o.Transport = transport })
		begun := time.Now()
		_, err := s.Do(t.Context(), "PutItem", []byte(`{}`), nil)
		if e := exception.Of(err); e.Kind != exception.InternalServerError || !strings.Contains(e.Message, "did not answer within 30s") {
			t.Errorf("%v", err)
		}
		if took := time.Since(begun); took != 30*time.Second || asked.Load() != 1 {
			t.Errorf("it was sent %d times in %v", asked.Load(), took)
		}
	})
}

func TestNobodyListens(t *testing.T) {
	address := loopback.FreeAddr(t)
	s := storeOf(t, "http://"+address, nil)
	_, err := s.Do(t.Context(), "PutItem", []byte(`{}`), nil)
	if e := exception.Of(err); e.Kind != exception.ServiceUnavailable || e.Status() != 503 || !strings.Contains(e.Message, address) || !strings.Contains(e.Message, "refused") {
		t.Errorf("%v", err)
	}
	// The endpoint starts again after the request has found nothing listening.
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, _ := io.ReadAll(r.Body); string(b) != `{"back":1}` {
			t.Errorf("%s", b)
		}
		fmt.Fprint(w, "{}")
	})}
	defer server.Close()
	var dials atomic.Int32
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if dials.Add(1) == 1 {
			ln, err := net.Listen(network, address)
			if err != nil {
				t.Error(err)
				return nil, err
			}
			go server.Serve(ln)
		}
		return c, err
	}}
	defer transport.CloseIdleConnections()
	s = storeOf(t, "http://"+address, func(o *Options) { o.Transport = transport })
	if _, err := s.Do(t.Context(), "PutItem", []byte(`{"back":1}`), nil); err != nil || dials.Load() != 2 {
		t.Errorf("%v, %d dials", err, dials.Load())
	}
}

// TestCredentialsAreThePrincipals checks who signs a request. The store signs a principal's request
// with the principal's key, and the door's own request with the door's key.
func TestCredentialsAreThePrincipals(t *testing.T) {
	var last atomic.Value
	s := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		id, _, _ := strings.Cut(after, "/")
		last.Store(id)
		fmt.Fprint(w, "{}")
	}, func(o *Options) {
		o.Of = func(p principal.Principal) aws.CredentialsProvider {
			if p.ID == "unknown" {
				return nil
			}
			return credentials.NewStaticCredentialsProvider("AKIDOF"+p.ID, "s", "")
		}
	})
	for id, want := range map[string]string{"": "AKIDDOOR", "a": "AKIDOFa", "b": "AKIDOFb"} {
		if _, err := s.Do(principal.With(t.Context(), principal.Principal{ID: id}), "GetItem", nil, nil); err != nil || last.Load() != want {
			t.Errorf("%q signs as %v, %v", id, last.Load(), err)
		}
	}
	_, err := s.Do(principal.With(t.Context(), principal.Principal{ID: "unknown"}), "GetItem", nil, nil)
	if e := exception.Of(err); e.Kind != exception.UnrecognizedClient {
		t.Errorf("%v", err)
	}
}

func TestOperations(t *testing.T) {
	s := new(Store)
	for op, want := range map[string]bool{"PutItem": true, "CreateBackup": true, "": false, "a/b": false, "x\r\ny": false, strings.Repeat("x", 65): false} {
		if s.Has(op) != want {
			t.Errorf("%q", op)
		}
	}
}
