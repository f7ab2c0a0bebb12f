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

// Options say where the cluster is and how it is spoken to.
type Options struct {
	// Contacts are where to find the cluster first, host or host:port. At least
	// one is needed.
	Contacts []string

	// TLS is used for every connection, nil for none. Where it has no server name,
	// the first contact point's is expected of every host: certificates seldom
	// have the addresses by which hosts are discovered.
	TLS *tls.Config

	// Username and Password are the door's own account, "" for none.
	Username, Password string

	// ConnsPerHost is how many connections each pool keeps to each host. Fewer
	// connections mean fewer, larger writes. 0 means 2; at most 64.
	ConnsPerHost int

	// InFlight is how many requests each pool has in flight to each host. Further ones go to
	// other hosts. Where all have so many, 16 times as many wait, and the rest is
	// refused at once. 0 means 2048; at most 32768 for each connection.
	InFlight int

	// ConnectTimeout bounds the making of a connection with all of its handshake.
	// 0 means 5 s.
	ConnectTimeout time.Duration

	// RequestTimeout is when a request without a response is given up. It is
	// longer than any of the cluster's own timeouts, so that the cluster's answer
	// comes first. 0 means 75 s.
	RequestTimeout time.Duration

	// Heartbeat is after how long a silent connection is asked for a sign of life,
	// and how long it may then stay silent. 0 means 10 s.
	Heartbeat time.Duration

	// IdlePool is when a pool that no link uses is closed. 0 means a minute.
	IdlePool time.Duration

	// PreparedBytes bounds the texts of prepared statements that are remembered.
	// 0 means 64 MiB.
	PreparedBytes int

	// LocalDC is the data centre whose hosts get all requests, "" for that of the contact
	// point that is reached first. No request goes to a host of another one, not even where
	// all hosts of LocalDC are down.
	LocalDC string

	// Rack is the door's own rack in that data centre: of the replicas of a partition,
	// those in this rack come first. "" for no preference. Requests that must meet at one
	// replica, whichever door they come from, take no notice of it.
	Rack string

	// AnyHost has requests go to any host. Otherwise an EXECUTE goes to a replica of its
	// partition.
	AnyHost bool

	// NoHedge has each read of a fan-out sent to one host alone. Otherwise one that takes
	// longer than most is sent to another host too.
	NoHedge bool

	// Log gets what an operator wants to know. Nil means nothing is logged.
	Log *slog.Logger
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
	if o.PreparedBytes == 0 {
		o.PreparedBytes = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate says all that is wrong with the options.
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

// address completes a contact point with the port, and checks it.
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
