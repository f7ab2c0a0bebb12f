// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/requestid"
)

// MaxAnswer is the largest length of an answer in bytes: 16 MB of items, with the overhead of JSON
// and base64.
const MaxAnswer = 64 << 20

// Options say where the store is and with whose rights it signs requests. Endpoint and Credentials
// are needed; the zero value works for the rest.
type Options struct {
	Endpoint Endpoint

	// Region is the region in signatures; default the endpoint's, or us-east-1.
	Region string

	// Credentials are the door's own.
	Credentials aws.CredentialsProvider

	// Of returns the credentials for a client's requests, or nil if the principal has none. Nil
	// means that all clients' requests use the door's credentials.
	Of func(principal.Principal) aws.CredentialsProvider

	// Transport sends requests; default one with its own pool.
	Transport http.RoundTripper

	// Roots are the certificates with which the default Transport checks an https:// endpoint. Nil:
	// those that the system trusts.
	Roots *x509.CertPool

	// Timeout limits the time of one request; default 30 s.
	Timeout time.Duration

	// Now returns the time for signatures; default time.Now. If the endpoint's clock differs,
	// signatures use the endpoint's time.
	Now func() time.Time

	// Log receives a message if the endpoint's clock differs; default none.
	Log *slog.Logger
}

// Store is a DynamoDB behind HTTP. It is safe for concurrent use.
type Store struct {
	options Options
	client  http.RoundTripper
	own     *http.Transport // to close; nil: the transport is the caller's
	signer  *v4.Signer
	ahead   atomic.Int64 // how far the endpoint's clock is ahead, a time.Duration

	decoders sync.Pool // of *api.Decoder
	buffers  sync.Pool // of *[]byte
}

// New returns the store. It sends nothing until a request comes.
func New(o Options) (*Store, error) {
	if o.Endpoint.URL == nil {
		return nil, errors.New("a DynamoDB endpoint: no URL is given")
	}
	if o.Credentials == nil {
		return nil, fmt.Errorf("DynamoDB endpoint %s: no credentials are given", o.Endpoint)
	}
	if o.Region == "" {
		o.Region = o.Endpoint.Region
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{options: o, client: o.Transport, signer: v4.NewSigner()}
	if s.client == nil {
		s.own = newTransport(o.Roots)
		s.client = s.own
	}
	s.decoders.New = func() any { return new(api.Decoder) }
	s.buffers.New = func() any { return new([]byte) }
	return s, nil
}

// newTransport returns a bounded pool of connections. A request that finds none free waits for one.
// The pool keeps as many idle connections as a busy door has in flight, because a connection costs
// a handshake, and several with TLS.
func newTransport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		MaxConnsPerHost:       1024,
		MaxIdleConns:          1024,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       50 * time.Second, // AWS closes connections that are idle for a minute
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		WriteBufferSize:       16 << 10,
		ReadBufferSize:        16 << 10,
	}
}

// Close closes the idle connections.
func (s *Store) Close() {
	if s.own != nil {
		s.own.CloseIdleConnections()
	}
}

// Endpoint returns the address of the store.
func (s *Store) Endpoint() Endpoint { return s.options.Endpoint }

// Has reports whether an operation may exist. Only the endpoint knows.
func (*Store) Has(operation string) bool {
	for i := range len(operation) {
		c := operation[i] | 0x20
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return operation != "" && len(operation) <= 64
}

// Do sends a request unchanged and appends the answer's body to dst.
func (s *Store) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	return s.send(ctx, operation, body, dst)
}

// Answer sends a decoded request and passes the answer to use, which must not keep it.
func (s *Store) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	answered, ok := q.(api.Answered)
	if !ok {
		return fmt.Errorf("%s: its answers are not decoded", q.Operation())
	}
	request, answer := s.buffers.Get().(*[]byte), s.buffers.Get().(*[]byte)
	d := s.decoders.Get().(*api.Decoder)
	defer func() {
		d.Reset()
		s.decoders.Put(d)
		s.release(request)
		s.release(answer)
	}()
	ctx = requestid.With(ctx, nil) // a client's request may need several of these
	*request = q.AppendJSON((*request)[:0])
	err := api.CheckWritten(q, len(*request))
	if err != nil {
		return err
	}
	if *answer, err = s.send(ctx, q.Operation(), *request, (*answer)[:0]); err != nil {
		return err
	}
	r, err := answered.DecodeResponse(d, *answer)
	if err != nil {
		return fmt.Errorf("endpoint %s: %w", s.options.Endpoint, err)
	}
	return use(r)
}

// keptBytes is the most memory that a buffer keeps for the next request.
const keptBytes = 256 << 10

func (s *Store) release(b *[]byte) {
	if cap(*b) <= keptBytes {
		s.buffers.Put(b)
	}
}
