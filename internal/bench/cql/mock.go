// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// mock stands in for a store that answers at almost no cost. It records Cassandra's first answer to each
// prepared statement. It answers every later EXECUTE of the statement with this record. It passes all
// other requests to Cassandra. It does not look into connections of protocol version 5, whose frames
// are packed into segments.
type mock struct {
	ln      net.Listener
	behind  string
	answers sync.Map // by prepared id (string): the frame of an answer ([]byte)
}

func startMock(cassandra string) (*mock, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mock{ln: ln, behind: cassandra}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go m.serve(nc)
		}
	}()
	return m, nil
}

func (m *mock) addr() string { return m.ln.Addr().String() }
func (m *mock) close()       { m.ln.Close() }

const headerLength = 9 // of a frame of version 4: version, flags, stream (2), opcode, length (4)

// mockConn is one connection of a proxy to the mock.
type mockConn struct {
	client, store net.Conn
	mu            sync.Mutex // guards writes to client and asked
	asked         map[uint16]string
}

func (m *mock) serve(client net.Conn) {
	defer client.Close()
	store, err := net.Dial("tcp", m.behind)
	if err != nil {
		return
	}
	defer store.Close()
	c := &mockConn{client: client, store: store, asked: map[uint16]string{}}
	in := bufio.NewReaderSize(client, 64<<10)
	first, err := in.Peek(1)
	if err != nil {
		return
	}
	if first[0] != byte(wire.V4) {
		go io.Copy(client, store)
		io.Copy(store, in)
		return
	}
	go m.record(c)
	var frame, out []byte
	for {
		if frame, err = readFrame(in, frame); err != nil {
			return
		}
		if answer := m.answer(c, frame); answer != nil {
			at := len(out)
			out = append(out, answer...)
			copy(out[at+2:at+4], frame[2:4]) // the stream
		} else if _, err := store.Write(frame); err != nil {
			return
		}
		if in.Buffered() == 0 && len(out) > 0 {
			c.mu.Lock()
			_, err := client.Write(out)
			c.mu.Unlock()
			if err != nil {
				return
			}
			out = out[:0]
		}
	}
}

// readFrame reads a frame of version 4 into b.
func readFrame(in *bufio.Reader, b []byte) ([]byte, error) {
	head, err := in.Peek(headerLength)
	if err != nil {
		return b, err
	}
	n := headerLength + int(binary.BigEndian.Uint32(head[5:]))
	if cap(b) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	_, err = io.ReadFull(in, b)
	return b, err
}

// answer returns the recorded answer to a request. If there is none, it returns nil, and notes that
// record must record the answer.
func (m *mock) answer(c *mockConn, frame []byte) []byte {
	const id = headerLength + 2
	if wire.Op(frame[4]) != wire.OpExecute || frame[1] != 0 || len(frame) < id {
		return nil
	}
	end := id + int(binary.BigEndian.Uint16(frame[headerLength:]))
	if end > len(frame) {
		return nil
	}
	if a, ok := m.answers.Load(string(frame[id:end])); ok {
		return a.([]byte)
	}
	c.mu.Lock()
	c.asked[binary.BigEndian.Uint16(frame[2:])] = string(frame[id:end])
	c.mu.Unlock()
	return nil
}

// record passes the store's answers to the proxy. It records the answers that answer has noted.
func (m *mock) record(c *mockConn) {
	in := bufio.NewReaderSize(c.store, 64<<10)
	for {
		frame, err := readFrame(in, nil)
		if err != nil {
			c.client.Close()
			return
		}
		c.mu.Lock()
		stream := binary.BigEndian.Uint16(frame[2:])
		if id, ok := c.asked[stream]; ok {
			delete(c.asked, stream)
			if wire.Op(frame[4]) == wire.OpResult {
				m.answers.Store(id, frame)
			}
		}
		_, err = c.client.Write(frame)
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}
