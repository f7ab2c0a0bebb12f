// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// final holds the codes of native_protocol_v5.spec §8 for which a retry does not help.
var final = map[int]bool{
	gocql.ErrCodeProtocol: true, gocql.ErrCodeCredentials: true, gocql.ErrCodeSyntax: true,
	gocql.ErrCodeUnauthorized: true, gocql.ErrCodeInvalid: true, gocql.ErrCodeConfig: true,
}

// code returns the store's code of an error; 0: the error is not the store's.
func code(err error) int {
	var r gocql.RequestError
	if errors.As(err, &r) {
		return r.Code()
	}
	return 0
}

// passing reports whether a failed operation may succeed if it is tried again.
func passing(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, gocql.ErrSessionClosed) {
		return false
	}
	return !final[code(err)]
}

// connecting turns the driver's error about a failed connection into an error that names the cause.
func connecting(a Address, err error, secured bool) error {
	hosts := strings.Join(a.Hosts, ", ")
	text := err.Error()
	var dns *net.DNSError
	e := &livetable.Error{At: hosts, Err: err}
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(text, "Provided username") || strings.Contains(text, "Bad credentials") || code(err) == gocql.ErrCodeCredentials:
		e.Err, e.Hint = fmt.Errorf("user %s is not let in: name or password is wrong", a.User), "the password is the first line of --password-file FILE; the user is in the address, cql://user@host/…"
	case strings.Contains(text, "authentication required"):
		e.Err, e.Hint = errors.New("asks for a user and a password"), "cql://user@host/keyspace.table --password-file FILE"
	case errors.As(err, &dns) || strings.Contains(text, "no such host") || strings.Contains(text, "failed to resolve"):
		e.Err, e.Hint = errors.New("no machine has that name"), "check the host in the address"
	case strings.Contains(text, "connection refused"):
		e.Err, e.Hint = errors.New("nothing listens there"), "is the store running, and is this its native_transport_port (9042 mostly)?"
	case strings.Contains(lower, "tls") || strings.Contains(lower, "x509") || strings.Contains(lower, "certificate"):
		e.Hint = "--tls speaks TLS, --tls-ca FILE names the certificates that the store's is checked against"
		if secured && (strings.Contains(text, "first record does not look like a TLS") || strings.Contains(text, "EOF")) {
			e.Hint = "the store does not speak TLS there: leave out --tls"
		}
	case strings.Contains(lower, "protocol") || strings.Contains(text, "EOF") || strings.Contains(lower, "reset by peer") || strings.Contains(text, "invalid header"):
		e.Err, e.Hint = fmt.Errorf("what listens there does not speak CQL, or not this way (%s)", brief(text)), "is this the port of the native protocol (9042 mostly)? Where it wants TLS: --tls"
	case strings.Contains(lower, "timeout") || strings.Contains(lower, "deadline") || errors.Is(err, gocql.ErrNoConnectionsStarted):
		e.Err, e.Hint = fmt.Errorf("does not answer (%s)", brief(text)), "check host and port, and that no firewall is between; where the port wants TLS: --tls"
	default:
		e.Hint = "check host and port in the address"
	}
	return e
}

// brief returns the end of a chain of the driver's errors, on one line.
func brief(text string) string { return strings.TrimPrefix(livetable.Brief(text, 160), "gocql: ") }

// reading turns the driver's error about a statement into an error that names the cause.
func (t *Table) reading(err error) error {
	e := &livetable.Error{At: t.at.Name(), Err: err}
	text := err.Error()
	switch c := code(err); {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case c == gocql.ErrCodeInvalid && (strings.Contains(text, "unconfigured table") || strings.Contains(text, "does not exist") || strings.Contains(text, "Keyspace")),
		strings.Contains(text, "Unknown table"), strings.Contains(text, "UnknownTable"), strings.Contains(text, "Unknown keyspace"):
		return livetable.Dropped(e.At)
	case c == gocql.ErrCodeUnauthorized:
		user := t.at.User
		if user == "" {
			user = "anonymous"
		}
		e.Err, e.Hint = fmt.Errorf("user %s may not read it: %s", user, text), fmt.Sprintf("GRANT SELECT ON %s TO …", t.at.Name())
	case c == gocql.ErrCodeUnavailable:
		e.Err, e.Hint = fmt.Errorf("too few replicas are up: %s", text), "nodetool status says which nodes are down"
	case c == gocql.ErrCodeReadTimeout || errors.Is(err, gocql.ErrTimeoutNoResponse):
		e.Err, e.Hint = fmt.Errorf("reading takes longer than the store allows: %s", brief(text)), "a lower --rate leaves it more time"
	case c != 0:
		e.Err = errors.New(text)
	default:
		e.Err, e.Hint = fmt.Errorf("%w: %s", livetable.ErrLost, brief(text)), "the same command goes on where this one stopped"
	}
	return e
}
