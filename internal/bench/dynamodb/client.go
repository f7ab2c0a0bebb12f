// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// client is a connection with the smallest possible cost, so that it measures the server.
type client struct {
	nc     net.Conn
	in     *bufio.Reader
	out    []byte
	answer bytes.Buffer
}

func dial(addr string) (*client, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{nc: nc, in: bufio.NewReaderSize(nc, 64<<10)}, nil
}

func (c *client) close() { c.nc.Close() }

// signature is well formed, and belongs to nobody.
const signature = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, " +
	"Signature=0000000000000000000000000000000000000000000000000000000000000000"

// call carries out one operation. The answer is in c.answer.
func (c *client) call(operation, body string) error {
	c.out = append(append(append(c.out[:0], "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810."...), operation...),
		"\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: "+signature...)
	c.out = fmt.Appendf(c.out, "\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := c.nc.Write(c.out); err != nil {
		return err
	}
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	c.answer.Reset()
	if _, err := io.Copy(&c.answer, r.Body); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", operation, r.Status, c.answer.Bytes())
	}
	return nil
}

// drive sends requests on a number of connections for a while. body returns the i-th request's
// body, and check checks its answer.
func drive(addr string, connections int, length time.Duration, operation string, body func(i int) string, check func(answer []byte) error) (measure.Sample, error) {
	var (
		s     measure.Sample
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		next  atomic.Int64
		begin = time.Now()
	)
	work := func() (latencies []time.Duration, err error) {
		c, err := dial(addr)
		if err != nil {
			return nil, err
		}
		defer c.close()
		for time.Since(begin) < length {
			text := body(int(next.Add(1)))
			began := time.Now()
			if err := c.call(operation, text); err != nil {
				return nil, err
			}
			latencies = append(latencies, time.Since(began))
			if err := check(c.answer.Bytes()); err != nil {
				return nil, fmt.Errorf("%s: %w: %.200s", operation, err, c.answer.Bytes())
			}
		}
		return latencies, nil
	}
	for range connections {
		wg.Go(func() {
			latencies, err := work()
			mu.Lock()
			defer mu.Unlock()
			s.Latencies = append(s.Latencies, latencies...)
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	s.Wall, s.Requests = time.Since(begin), len(s.Latencies)
	return s, first
}
