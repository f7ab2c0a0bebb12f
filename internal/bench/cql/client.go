// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// client is a connection that keeps a number of requests in flight with the smallest possible cost,
// so that it measures the server.
type client struct {
	nc  net.Conn
	dec *wire.Decoder
	enc wire.Encoder
	out []byte
}

func dial(addr string) (*client, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{nc: nc, dec: wire.NewResponseDecoder(nc, 256<<20)}
	c.enc.Established(wire.V4, wire.NoCompression)
	if _, err := c.call(wire.OpStartup, wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.4.5"})); err != nil {
		return nil, err
	}
	c.dec.Established(wire.V4, wire.NoCompression)
	return c, nil
}

func (c *client) close() { c.nc.Close() }

func (c *client) send(stream int16, op wire.Op, body []byte) {
	c.enc.Frame(wire.Header{Version: wire.V4, Stream: stream, Op: op}, body)
}

func (c *client) flush() error {
	c.out = c.enc.Take(c.out)
	_, err := c.nc.Write(c.out)
	return err
}

func (c *client) receive() (int16, []byte, error) {
	h, body, err := c.dec.Next()
	if err != nil {
		return 0, nil, err
	}
	if h.Op == wire.OpError {
		e, err := wire.ParseError(wire.V4, body)
		if err != nil {
			return 0, nil, err
		}
		return 0, nil, e
	}
	return h.Stream, body, nil
}

func (c *client) call(op wire.Op, body []byte) ([]byte, error) {
	c.send(0, op, body)
	if err := c.flush(); err != nil {
		return nil, err
	}
	_, body, err := c.receive()
	return body, err
}

func (c *client) prepare(text string) ([]byte, error) {
	body, err := c.call(wire.OpPrepare, wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(text)}))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	p, err := wire.ParsePrepared(wire.V4, body)
	return slices.Clone(p.ID), err
}

// drive sends requests for a while and keeps inFlight of them in flight. request appends the i-th
// request's EXECUTE body.
func (c *client) drive(inFlight int, length time.Duration, request func(dst []byte, i int) []byte) (measure.Sample, error) {
	var (
		s     measure.Sample
		body  []byte
		began = make([]time.Time, inFlight)
		start = time.Now()
		next  int
		open  int
	)
	put := func(stream int) {
		body = request(body[:0], next)
		next++
		open++
		began[stream] = time.Now()
		c.send(int16(stream), wire.OpExecute, body)
	}
	for stream := range inFlight {
		put(stream)
	}
	for open > 0 {
		if err := c.flush(); err != nil {
			return s, err
		}
		for {
			stream, _, err := c.receive()
			if err != nil {
				return s, err
			}
			now := time.Now()
			s.Latencies = append(s.Latencies, now.Sub(began[stream]))
			s.Requests++
			open--
			if now.Sub(start) < length {
				put(int(stream))
			}
			if !c.dec.Buffered() {
				break
			}
		}
	}
	s.Wall = time.Since(start)
	return s, nil
}
