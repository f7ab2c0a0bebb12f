// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// DefaultPort is the native protocol's port.
const DefaultPort = 9042

// Options say how to reach the cluster and how to use it.
type Options struct {
	// Contacts are the addresses at which to find the cluster first, as host or host:port. At least
	// one is needed.
	Contacts []string

	// TLS is used for every connection; nil: no TLS. If it has no server name, every host must have
	// the first contact point's: certificates seldom contain the addresses by which hosts are
	// discovered.
	TLS *tls.Config

	// Username and Password are the door's own account; "": none.
	Username, Password string

	// ConnsPerHost is the number of connections that each pool keeps to each host. Fewer
	// connections mean fewer, larger writes. 0 means 2; at most 64.
	ConnsPerHost int

	// InFlight is the largest number of requests that each pool has in flight to each host. Further
	// requests go to other hosts. If all hosts have that many, 16 times as many requests wait, and
	// the rest are refused at once. 0 means 2048; at most 32768 for each connection.
	InFlight int

	// ConnectTimeout limits the time to make a connection, including its handshake. 0 means 5 s.
	ConnectTimeout time.Duration

	// RequestTimeout is the time after which the door gives up a request without a response. It
	// should be longer than each of the cluster's own timeouts, so that the cluster's answer comes
	// first. 0 means 75 s.
	RequestTimeout time.Duration

	// Heartbeat is the silence after which the package sends a heartbeat on a connection, and the
	// time in which the host must answer it. 0 means 10 s.
	Heartbeat time.Duration

	// IdlePool is the time after which a pool without links is closed. 0 means a minute.
	IdlePool time.Duration

	// PreparedBytes limits the memory for the texts of prepared statements. 0 means 64 MiB.
	PreparedBytes int

	// LocalDC is the data centre whose hosts get all requests. "" means that of the first contact
	// point that the door reaches. No request goes to a host of another data centre, not even if
	// all hosts of LocalDC are down.
	LocalDC string

	// Rack is the door's own rack in that data centre: the door prefers replicas in this rack. ""
	// means no preference. The rack does not matter for requests that must meet at one replica,
	// whichever door sends them.
	Rack string

	// AnyHost makes requests go to any host. Otherwise an EXECUTE goes to a replica of its
	// partition.
	AnyHost bool

	// NoHedge makes each read of a fan-out go to one host only. Otherwise a read that takes longer
	// than most goes to another host too.
	NoHedge bool

	// Log receives messages for the operator. Nil means that nothing is logged.
	Log *slog.Logger

	// beatEvery is the time between two beats. 0 means a second. Tests in which a host answers
	// nothing make it long, and call beat.
	beatEvery time.Duration
}

func (o Options) withDefaults() Options {
	if o.ConnsPerHost == 0 {
		o.ConnsPerHost = 2
	}
	if o.InFlight == 0 {
		o.InFlight = 2048
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = 5 * time.Second
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 75 * time.Second
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 10 * time.Second
	}
	if o.IdlePool == 0 {
		o.IdlePool = time.Minute
	}
	if o.beatEvery == 0 {
		o.beatEvery = time.Second
	}
	if o.PreparedBytes == 0 {
		o.PreparedBytes = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate returns an error that lists everything wrong with the options.
func (o Options) Validate() error {
	var errs []error
	if len(o.Contacts) == 0 {
		errs = append(errs, errors.New("no contact point is given"))
	}
	for _, c := range o.Contacts {
		if _, err := address(c, DefaultPort); err != nil {
			errs = append(errs, err)
		}
	}
	if o.Username == "" && o.Password != "" {
		errs = append(errs, errors.New("a password is given without a username"))
	}
	if o.Rack != "" && o.AnyHost {
		errs = append(errs, errors.New("a rack is given, but requests go to any host, not to replicas"))
	}
	if o.ConnsPerHost < 0 || o.ConnsPerHost > 64 {
		errs = append(errs, fmt.Errorf("connections per host must be within 1..64, not %d", o.ConnsPerHost))
	}
	if most := max(o.ConnsPerHost, 1) * maxStreams; o.InFlight < 0 || o.InFlight > most {
		errs = append(errs, fmt.Errorf("requests in flight to a host must be within 1..%d, not %d", most, o.InFlight))
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"connect timeout", o.ConnectTimeout}, {"request timeout", o.RequestTimeout}, {"heartbeat", o.Heartbeat}, {"idle pool time", o.IdlePool}} {
		if d.d < 0 {
			errs = append(errs, fmt.Errorf("%s must not be negative", d.name))
		}
	}
	return errors.Join(errs...)
}

// address returns a contact point as host:port. It adds port if the contact point has none, and
// returns an error if the contact point is malformed.
func address(contact string, port int) (string, error) {
	contact = strings.TrimSpace(contact)
	host, p, err := net.SplitHostPort(contact)
	if err != nil {
		host, p = strings.Trim(contact, "[]"), strconv.Itoa(port)
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return "", fmt.Errorf("contact point %q is not host or host:port", contact)
		}
	}
	if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("contact point %q: port must be within 1..65535", contact)
	}
	if host == "" {
		return "", fmt.Errorf("contact point %q has no host", contact)
	}
	return net.JoinHostPort(host, p), nil
}
