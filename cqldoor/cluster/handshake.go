// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
)

// dialed is a connection after its handshake that has no reader yet.
type dialed struct {
	t             *transport.Conn
	authenticator string // class; "": none was announced
}

// dial connects to a host with the options o, up to the USE. If the host refuses, the error wraps
// its *wire.Error. dial passes paced, which may be nil, to the connection: it is called when the
// connection becomes full of bytes to write, and when it is no longer full.
func (cl *Cluster) dial(ctx context.Context, addr string, o store.LinkOptions, paced func()) (dialed, error) {
	ctx, cancel := context.WithTimeout(ctx, cl.opts.ConnectTimeout)
	defer cancel()
	d := net.Dialer{KeepAlive: 30 * time.Second}
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return dialed{}, fmt.Errorf("connect to %s: %w", addr, err)
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	if cl.opts.TLS != nil {
		conf := cl.opts.TLS.Clone()
		if conf.ServerName == "" {
			conf.ServerName = cl.serverName
		}
		tc := tls.Client(nc, conf)
		if err := tc.HandshakeContext(ctx); err != nil {
			nc.Close()
			return dialed{}, fmt.Errorf("TLS with %s: %w", addr, err)
		}
		nc = tc
	}
	h := handshake{t: transport.New(nc, transport.Options{Unread: maxPending, Paced: paced}), version: o.Version}
	if err := h.run(cl.credentials(o), o); err != nil {
		h.t.Close()
		if ctx.Err() != nil && !errors.As(err, new(*wire.Error)) {
			err = context.Cause(ctx)
		}
		return dialed{}, fmt.Errorf("handshake with %s: %w", addr, err)
	}
	if !stop() {
		h.t.Close()
		return dialed{}, fmt.Errorf("handshake with %s: %w", addr, context.Cause(ctx))
	}
	return dialed{t: h.t, authenticator: h.authenticator}, nil
}

// account is a user name and a password.
type account struct{ username, password string }

// credentials returns the credentials of a link: the door's for an Own link, and only the link's
// own for any other.
func (cl *Cluster) credentials(o store.LinkOptions) account {
	if o.Own {
		return account{cl.opts.Username, cl.opts.Password}
	}
	return account{o.Username, o.Password}
}

type handshake struct {
	t             *transport.Conn
	version       wire.Version
	authenticator string
}

func (h *handshake) run(as account, o store.LinkOptions) error {
	options := map[string]string{
		wire.OptionCQLVersion: "3.0.0",
		wire.OptionDriverName: "evenkeel",
	}
	maps.Copy(options, store.DecodeStartup(o.Startup))
	resp, err := h.ask(wire.OpStartup, wire.AppendStartup(nil, options))
	if err != nil {
		return err
	}
	h.t.Established(h.version, wire.NoCompression)
	switch resp.Op {
	case wire.OpReady:
	case wire.OpAuthenticate:
		if h.authenticator, err = wire.ParseAuthenticate(resp.Body); err != nil {
			return err
		}
		if as.username == "" {
			return &needsCredentials{h.authenticator}
		}
		token := []byte("\x00" + as.username + "\x00" + as.password)
		if resp, err = h.ask(wire.OpAuthResponse, wire.AppendAuthResponse(nil, token)); err != nil {
			return err
		}
		if resp.Op != wire.OpAuthSuccess {
			return wire.Errorf(wire.CodeBadCredentials, "evenkeel: the backend's %s does not take SASL PLAIN (it answered %s)", h.authenticator, resp.Op)
		}
	default:
		return fmt.Errorf("unexpected %s in answer to STARTUP", resp.Op)
	}
	if o.Keyspace == "" {
		return nil
	}
	use := wire.Query{Text: []byte(`USE "` + strings.ReplaceAll(o.Keyspace, `"`, `""`) + `"`)}
	use.Params.Consistency = wire.One
	resp, err = h.ask(wire.OpQuery, wire.AppendQuery(nil, h.version, &use))
	if err == nil && resp.Op != wire.OpResult {
		err = fmt.Errorf("unexpected %s in answer to USE", resp.Op)
	}
	return err
}

// ask sends one request and waits for its response. It returns an ERROR as a *wire.Error.
func (h *handshake) ask(op wire.Op, body []byte) (wire.Message, error) {
	h.t.Append(wire.Header{Version: h.version, Op: op}, body)
	h.t.Flush()
	for {
		hd, body, err := h.t.Next()
		if err != nil {
			return wire.Message{}, err
		}
		if hd.Stream < 0 {
			continue
		}
		_, rest, err := wire.SplitPrefix(hd.Op, hd.Flags, body)
		if err != nil {
			return wire.Message{}, err
		}
		if hd.Op == wire.OpError {
			e, err := wire.ParseError(h.version, rest)
			if err != nil {
				return wire.Message{}, err
			}
			return wire.Message{}, e
		}
		if hd.Version != h.version {
			return wire.Message{}, wire.VersionError(uint8(h.version))
		}
		return wire.Message{Op: hd.Op, Body: rest}, nil
	}
}

// needsCredentials reports that the backend demands credentials and the link has none.
type needsCredentials struct{ class string }

func (e *needsCredentials) Error() string {
	return fmt.Sprintf("the backend wants credentials (%s) and none are given", e.class)
}
