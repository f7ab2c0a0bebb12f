// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// This file handles the messages before requests: OPTIONS, STARTUP, AUTH_RESPONSE, REGISTER.

// semantic lists the STARTUP options that change the meaning of statements. They are part of a
// link's identity.
var semantic = []string{wire.OptionNoCompact, wire.OptionThrowOnOverload}

// unreplayable lists authenticators whose exchange is bound to one connection. The door cannot
// repeat such an exchange on its own connections.
var unreplayable = []string{"kerberos", "gssapi", "mutualtls", "sigv4"}

// dispatch handles a frame and reports whether the connection goes on.
func (c *conn) dispatch(h wire.Header, body []byte) bool {
	begin := handshake{c}
	switch h.Op {
	case wire.OpQuery, wire.OpPrepare, wire.OpExecute, wire.OpBatch:
		if c.state != stateReady {
			break
		}
		c.handle(h, body)
		return true
	case wire.OpOptions:
		begin.answerAs(h, wire.OpSupported, c.d.supported)
		return true
	case wire.OpStartup:
		if c.state != stateNew {
			break
		}
		return begin.startup(h, body)
	case wire.OpAuthResponse:
		if c.state != stateAuthenticating {
			break
		}
		return begin.authenticate(h, body)
	case wire.OpRegister:
		if c.state != stateReady {
			break
		}
		c.register(h, body)
		return true
	}
	c.d.counts.malformed.Add(1)
	begin.answerError(h, wire.Errorf(wire.CodeProtocol, "Unexpected message %s, expecting %s", h.Op, [...]string{
		stateNew: "STARTUP or OPTIONS", stateAuthenticating: "SASL_RESPONSE", stateReady: "a request",
	}[c.state]))
	return c.state == stateReady
}

// handshake is what a connection does before its first request: it agrees on the version, takes the
// client's identity, and opens the first link to the store.
type handshake struct{ *conn }

// answerAs replies in the version of the request. That matters before STARTUP has settled the
// version.
func (c handshake) answerAs(h wire.Header, op wire.Op, body []byte) {
	c.handed = true
	c.t.Append(wire.Header{Version: h.Version, Response: true, Stream: h.Stream, Op: op}, body)
}

func (c handshake) answerError(h wire.Header, e *wire.Error) {
	c.answerAs(h, wire.OpError, e.Append(nil, h.Version))
}

func (c handshake) startup(h wire.Header, body []byte) bool {
	if h.Version > c.d.maxVersion {
		c.refuseVersion(h)
		return false
	}
	options, err := wire.ParseStartup(body)
	if err != nil {
		c.d.counts.malformed.Add(1)
		c.answerError(h, wire.AsError(err))
		return false
	}
	// The first STARTUP settles the version, even if it fails.
	if options[wire.OptionCQLVersion] == "" {
		c.answerError(h, wire.Errorf(wire.CodeProtocol, "Missing value CQL_VERSION in STARTUP message"))
		return true
	}
	compression, ok := wire.ParseCompression(strings.ToLower(options[wire.OptionCompression]))
	if !ok {
		c.answerError(h, wire.Errorf(wire.CodeProtocol, "Unknown compression algorithm: %s", options[wire.OptionCompression]))
		return true
	}
	c.driver = options[wire.OptionDriverName]
	kept := make(map[string]string)
	for _, name := range semantic {
		if v, ok := options[name]; ok {
			kept[name] = v
		}
	}
	c.identity = store.LinkOptions{Version: h.Version, Startup: store.EncodeStartup(kept)}

	class, err := c.d.opts.Store.Authenticator(c.ctx)
	if err != nil {
		c.answerError(h, wire.AsError(err))
		return true
	}
	if class == "" {
		if !c.open(h, c.identity) {
			return true
		}
		c.established(h, wire.OpReady, nil, compression)
		c.ready()
		return true
	}
	for _, word := range unreplayable {
		if strings.Contains(strings.ToLower(class), word) {
			c.answerError(h, wire.Errorf(wire.CodeBadCredentials,
				"evenkeel: the backend authenticates with %s, which cannot be passed through; SASL PLAIN (PasswordAuthenticator) can", class))
			return true
		}
	}
	c.state = stateAuthenticating
	c.established(h, wire.OpAuthenticate, wire.AppendAuthenticate(nil, class), compression)
	return true
}

// established answers STARTUP in bare frames. All later messages are framed as agreed.
func (c handshake) established(h wire.Header, op wire.Op, body []byte, z wire.Compression) {
	c.answerAs(h, op, body)
	c.version = h.Version
	c.t.Established(h.Version, z)
}

// open opens the connection's first link. If it cannot, it answers the client with an error.
func (c handshake) open(h wire.Header, o store.LinkOptions) bool {
	ctx, cancel := context.WithTimeout(c.ctx, c.d.opts.HandshakeTimeout)
	defer cancel()
	l, err := c.d.opts.Store.Open(ctx, o)
	if err != nil {
		c.answerError(h, wire.AsError(err))
		return false
	}
	c.setLink(l, "")
	return true
}

func (c handshake) ready() {
	c.state = stateReady
	c.t.SetMaxFrame(c.d.opts.MaxFrame)
	c.t.NetConn().SetReadDeadline(time.Time{})
}

// authenticate takes a SASL PLAIN token (RFC 4616) and lets the store check it.
func (c handshake) authenticate(h wire.Header, body []byte) bool {
	token, err := wire.ParseAuthResponse(body)
	if err != nil {
		c.d.counts.malformed.Add(1)
		c.answerError(h, wire.AsError(err))
		return false
	}
	username, password, ok := parsePlain(token)
	if !ok {
		c.answerError(h, wire.Errorf(wire.CodeBadCredentials,
			"evenkeel: only SASL PLAIN, a username and a password, can be passed through to the backend"))
		return false
	}
	c.identity.Username, c.identity.Password = username, password
	o := c.identity
	o.Fresh = true
	if !c.open(h, o) {
		return false
	}
	c.answerAs(h, wire.OpAuthSuccess, wire.AppendNull(nil))
	c.ready()
	return true
}

// parsePlain splits a token [authzid] NUL username NUL password.
func parsePlain(token []byte) (username, password string, ok bool) {
	parts := bytes.Split(token, []byte{0})
	if len(parts) != 3 || len(parts[1]) == 0 {
		return "", "", false
	}
	return string(parts[1]), string(parts[2]), true
}

// use makes keyspace the current keyspace. It opens a link with the same identity.
func (c *conn) use(h wire.Header, keyspace string) {
	o := c.identity
	o.Keyspace = keyspace
	ctx, cancel := context.WithTimeout(c.ctx, c.d.opts.HandshakeTimeout)
	defer cancel()
	l, err := c.d.opts.Store.Open(ctx, o)
	if err != nil {
		c.measure.present.fail(wire.AsError(err))
		c.replyError(h.Stream, wire.AsError(err))
		return
	}
	c.setLink(l, keyspace)
	c.measure.present.finish(observe.Now(), "")
	body := wire.AppendInt(nil, int32(wire.ResultSetKeyspace))
	c.reply(h.Stream, wire.OpResult, wire.AppendString(body, keyspace))
}
