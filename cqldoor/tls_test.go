// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
)

// certificate is one for 127.0.0.1, and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TLS on both sides: a door behind a door, so that the second is the first's
// cluster.
func TestTLS(t *testing.T) {
	cert, trusted := certificate(t)
	m := &memory{answer: localOr(func(req wire.Message) wire.Message { return wire.Message{Op: wire.OpResult, Body: req.Body} })}
	_, back := door(t, m, cqldoor.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	if _, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{back}, TLS: &tls.Config{}}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	cl, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{back}, ConnectTimeout: time.Minute, TLS: &tls.Config{RootCAs: trusted}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	_, front := doorOf(t, cqldoor.Options{Store: cl, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})

	nc, err := tls.Dial("tcp", front, &tls.Config{RootCAs: trusted})
	if err != nil {
		t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(patience))
	c := &client{t, transport.New(nc, transport.Options{}), wire.V5}
	t.Cleanup(c.Close)
	if h, _ := c.ask(wire.OpStartup, startup("lz4")); h.Op != wire.OpReady {
		t.Fatalf("STARTUP: %s", h.Op)
	}
	c.Established(wire.V5, wire.LZ4)
	for _, n := range []int{1, 1000, 1_000_000} {
		body := query(wire.V5, "SELECT "+strings.Repeat("x", n))
		if h, got := c.ask(wire.OpQuery, body); h.Op != wire.OpResult || string(got) != string(body) {
			t.Errorf("%d: %s", n, h.Op)
		}
	}
	plain := dial(t, front, wire.V5)
	plain.send(1, wire.OpStartup, 0, startup(""))
	if _, _, err := plain.Next(); err == nil {
		t.Error("a client without TLS was answered")
	}
}

// localOr answers what a cluster's control connection asks, and leaves the rest.
func localOr(rest func(wire.Message) wire.Message) func(*memoryLink, wire.Message) (wire.Message, bool) {
	return func(l *memoryLink, req wire.Message) (wire.Message, bool) {
		text := string(req.Body)
		if !strings.Contains(text, "system.") {
			return rest(req), false
		}
		columns := []wire.Column{{Keyspace: "system", Table: "local", Name: "data_center", Type: value.Native(value.Text)}}
		var w wire.RowsWriter
		w.Begin(nil, wire.EncodeColumns(l.o.Version, columns))
		if strings.Contains(text, "local") {
			w.Cell([]byte("dc1"))
			w.EndRow()
		}
		return wire.Message{Op: wire.OpResult, Body: w.Finish()}, false
	}
}

// What ends a connection is said over TLS, too: its writes are never tried at once, and
// the end must not overtake them.
func TestTLSRefusals(t *testing.T) {
	cert, trusted := certificate(t)
	_, addr := door(t, &memory{authenticator: "PasswordAuthenticator"}, cqldoor.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	for range 20 {
		nc, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: trusted})
		if err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(patience))
		c := &client{t, transport.New(nc, transport.Options{}), wire.V4}
		if h, _ := c.ask(wire.OpStartup, startup("")); h.Op != wire.OpAuthenticate {
			t.Fatalf("STARTUP: %s", h.Op)
		}
		c.wantError(wire.OpAuthResponse, wire.AppendAuthResponse(nil, []byte("\x00ada\x00wrong")), wire.CodeBadCredentials)
		c.wantClosed()
		c.Close()

		// What cannot be read is refused by another way.
		if nc, err = tls.Dial("tcp", addr, &tls.Config{RootCAs: trusted}); err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(patience))
		c = &client{t, transport.New(nc, transport.Options{}), wire.V4}
		if _, err := nc.Write([]byte{4, 0, 0, 1, 0x77, 0, 0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		h, body := c.next()
		asError(t, wire.V4, h, body, wire.CodeProtocol)
		c.wantClosed()
		c.Close()
	}
}
