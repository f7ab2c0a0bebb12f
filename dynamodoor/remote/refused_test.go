// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// secured returns a server that serves TLS with its own certificate and logs nothing.
func secured(t *testing.T) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"over":"TLS"}`) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, roots
}

func TestCertificatesAreChecked(t *testing.T) {
	server, roots := secured(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	trusting := func(o *Options) { o.Roots = roots }
	answer, err := storeOf(t, server.URL, trusting).Do(t.Context(), "GetItem", []byte("{}"), nil)
	if err != nil || string(answer) != `{"over":"TLS"}` {
		t.Errorf("%s %v", answer, err)
	}
	for name, c := range map[string]struct {
		url    string
		change func(o *Options)
		says   string
	}{
		"nobody's certificate":   {server.URL, nil, "certificate signed by unknown authority"},
		"another name":           {strings.Replace(server.URL, "127.0.0.1", "localhost", 1), trusting, "certificate is valid for"},
		"https to one of http":   {strings.Replace(plain.URL, "http:", "https:", 1), trusting, "does not look like a TLS handshake"},
		"another's certificates": {server.URL, func(o *Options) { o.Roots = x509.NewCertPool() }, "unknown authority"},
	} {
		_, err := storeOf(t, c.url, c.change).Do(t.Context(), "PutItem", []byte("{}"), nil)
		if e := exception.Of(err); e.Kind != exception.ServiceUnavailable || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, "cannot be reached") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = storeOf(t, strings.Replace(server.URL, "https:", "http:", 1), nil).Do(t.Context(), "PutItem", []byte("{}"), nil)
	if !strings.Contains(fmt.Sprint(err), "HTTP request to an HTTPS server") {
		t.Errorf("http to one of https: %v", err)
	}
}

func TestIPv6(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		ln, err = net.Listen("tcp", "127.0.0.1:0") // a machine without IPv6
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%q", r.Host) })}
	go server.Serve(ln)
	defer server.Close()
	answer, err := storeOf(t, "http://"+ln.Addr().String(), nil).Do(t.Context(), "GetItem", nil, nil)
	if want := fmt.Sprintf("%q", ln.Addr()); err != nil || string(answer) != want {
		t.Errorf("%s %v, want %s", answer, err, want)
	}
}

// TestTheEndpointsClock checks that, if the endpoint's clock differs from this machine's,
// signatures use the endpoint's time from the first refusal on. All requests under way then
// succeed.
func TestTheEndpointsClock(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC) // the store takes this for the current time
	var ahead atomic.Int64
	var asked, refused atomic.Int32
	var printed bytes.Buffer
	handler := func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		now := noon.Add(time.Duration(ahead.Load()))
		w.Header().Set("Date", now.Format(http.TimeFormat))
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || now.Sub(at).Abs() > 15*time.Minute {
			refused.Add(1)
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"Signature expired: %s is now earlier than %s"}`, at, now)
			return
		}
		fmt.Fprint(w, "{}")
	}
	s := endpoint(t, handler, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&printed, nil)) })
	for _, offset := range []time.Duration{0, 20 * time.Minute, 20*time.Minute + 30*time.Second, -3 * time.Hour, 0} {
		ahead.Store(int64(offset))
		refused.Store(0)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := s.Do(t.Context(), "PutItem", []byte(`{}`), []byte("before")); err != nil {
					t.Errorf("%v: %v", offset, err)
				}
			})
		}
		all.Wait()
		asked.Store(0)
		if _, err := s.Do(t.Context(), "PutItem", []byte(`{}`), nil); err != nil || asked.Load() != 1 {
			t.Errorf("%v: afterwards %d requests, %v", offset, asked.Load(), err)
		}
	}
	if n := strings.Count(printed.String(), "set this machine's clock"); n != 3 {
		t.Errorf("the clock is found to be another %d times:\n%s", n, &printed)
	}
	// An endpoint that refuses its own time does not get the request again and again.
	s = endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(400)
		fmt.Fprint(w, `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"Signature expired: always"}`)
	}, nil)
	asked.Store(0)
	_, err := s.Do(t.Context(), "PutItem", []byte(`{}`), nil)
	if e := exception.Of(err); e.Kind != exception.InvalidSignature || asked.Load() > 2 {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
}

// TestErrorsAboutTheDoorsSignature checks that an endpoint's error about the door's signature is
// not taken for one about the client's.
func TestErrorsAboutTheDoorsSignature(t *testing.T) {
	for _, kind := range []exception.Kind{exception.ExpiredToken, exception.UnrecognizedClient, exception.InvalidSignature, exception.MissingAuthenticationToken, exception.IncompleteSignature, exception.AccessDenied} {
		s := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"__type":%q,"message":"The security token included in the request is expired"}`, kind.Type())
		}, func(o *Options) { o.Of = func(principal.Principal) aws.CredentialsProvider { return o.Credentials } })
		_, err := s.Do(principal.With(t.Context(), principal.Principal{ID: "AKIDCLIENT"}), "GetItem", []byte("{}"), nil)
		e := exception.Of(err)
		told := strings.Contains(e.Message, "refuses the credentials that the door has for access key AKIDCLIENT: The security token")
		if e.Kind != kind || e.Status() != 400 || told == (kind == exception.AccessDenied) || told != (e.Raw == nil) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestNoCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		kind exception.Kind
	}{
		"refused":   {fmt.Errorf("assume role r: %w", &smithy.GenericAPIError{Code: "AccessDenied", Message: "not authorized", Fault: smithy.FaultClient}), exception.AccessDenied},
		"throttled": {&smithy.GenericAPIError{Code: "Throttling", Fault: smithy.FaultClient}, exception.ServiceUnavailable},
		"a fault":   {&smithy.GenericAPIError{Code: "InternalFailure", Fault: smithy.FaultServer}, exception.ServiceUnavailable},
		"nobody":    {errors.New("connection refused"), exception.ServiceUnavailable},
	} {
		s := storeOf(t, "http://127.0.0.1:1", func(o *Options) {
			o.Of = func(principal.Principal) aws.CredentialsProvider {
				return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, c.err })
			}
		})
		_, err := s.Do(principal.With(t.Context(), principal.Principal{ID: "AKIDCLIENT"}), "GetItem", []byte("{}"), nil)
		if e := exception.Of(err); e.Kind != c.kind || !strings.Contains(e.Message, "no credentials for access key AKIDCLIENT at endpoint http://127.0.0.1:1: "+c.err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
