// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/compression/lz4"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/datastax/go-cassandra-native-protocol/segment"
)

// attackFrames sends malformed messages, and reads slowly or not at all. Clients of a door in front
// of Cassandra share its connections there, so none may end one.
func attackFrames(f *field) error { return f.eachStore("frames", f.frames, "--memory", memoryBudget) }

func (f *field) frames(target *server, direct string) error {
	odd := &server{cql: direct}
	if direct == "" {
		var err error
		if odd, err = f.newServer("odd"); err != nil {
			return err
		}
		defer odd.close(f)
	}
	if err := fillWork(f, target, true); err != nil {
		return err
	}
	w, err := newWatch(f, target, odd, direct != "")
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	each := func(n int, do func(r *rand.Rand)) {
		for range n {
			r := f.fork()
			wg.Go(func() {
				for !f.over() && target.alive() {
					f.sent.Add(1)
					do(r)
				}
			})
		}
	}
	each(6, func(r *rand.Rand) { sendMutated(r, target.cql) })
	each(2, func(r *rand.Rand) { sendGarbage(r, target) })
	if direct == "" { // Cassandra has no room for so many long answers
		each(3, func(r *rand.Rand) { readSlowly(r, target.cql) })
		each(1, func(r *rand.Rand) { readLong(f, r, target) })
	}
	each(1, func(r *rand.Rand) { idle(r, target) })
	wg.Wait()
	w.finish()
	return nil
}

// drawFrame draws a well-formed message.
func drawFrame(r *rand.Rand, version primitive.ProtocolVersion) *frame.Frame {
	text, values := muchText(r)
	if len(text) > 1<<16 {
		text = text[:1<<16]
	}
	o := &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne, PositionalValues: values, PageSize: int32(r.IntN(1000)), PagingState: make([]byte, r.IntN(60))}
	id := make([]byte, 16)
	for i := range id {
		id[i] = byte(r.Uint32())
	}
	small := []string{"SELECT * FROM system.local", "SELECT * FROM w.b WHERE p = 1", "USE w", "SELECT cast(p as text) FROM w.a LIMIT 3", "LIST ROLES", "DESCRIBE TABLES"}
	m := pick[message.Message](r,
		&message.Query{Query: text, Options: o}, &message.Query{Query: pick(r, small...), Options: &message.QueryOptions{PagingState: make([]byte, r.IntN(200))}}, &message.Prepare{Query: pick(r, small...)}, &message.Prepare{Query: text},
		&message.Execute{QueryId: id, ResultMetadataId: id, Options: o}, message.NewStartup(), &message.Options{},
		&message.Register{EventTypes: []primitive.EventType{primitive.EventTypeSchemaChange}}, &message.AuthResponse{Token: id},
		&message.Batch{Consistency: primitive.ConsistencyLevelOne, Children: []*message.BatchChild{{Query: pick(r, small...)}, {Id: id}, {Query: "INSERT INTO w.b (p, c, d) VALUES (?, 1, 1)", Values: values}}})
	fr := frame.NewFrame(version, int16(r.IntN(1<<15)), m)
	if r.IntN(5) == 0 {
		fr.SetCustomPayload(map[string][]byte{"x": id})
	}
	if r.IntN(5) == 0 {
		fr.RequestTracingId(true)
	}
	return fr
}

// mutate changes, cuts, doubles and inserts bytes.
func mutate(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range upTo(r, 20) {
		if len(b) == 0 {
			return b
		}
		at := r.IntN(len(b))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(b), 40))
		}
		switch r.IntN(7) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.Uint32())
		case 2:
			b = b[:at]
		case 3:
			b = append(b[:at:at], b[min(len(b), at+upTo(r, 30)):]...)
		case 4:
			b = append(b[:at:at], append(bytes.Clone(b[at:min(len(b), at+upTo(r, 30))]), b[at:]...)...)
		case 5:
			if at+4 <= len(b) {
				binary.BigEndian.PutUint32(b[at:], pick(r, 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 256<<20, 16<<20, uint32(len(b))))
			}
		default:
			if at+2 <= len(b) {
				binary.BigEndian.PutUint16(b[at:], pick(r, 0, 1, 0x7fff, 0x8000, 0xffff, uint16(len(b))))
			}
		}
	}
	return b
}

// connect connects and starts up, with or without compression.
func connect(addr string, version primitive.ProtocolVersion, compressed bool) (net.Conn, error) {
	nc, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	startup := message.NewStartup()
	if compressed {
		startup.SetCompression(primitive.CompressionLz4)
	}
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	if err = frame.NewCodec().EncodeFrame(frame.NewFrame(version, 1, startup), nc); err == nil {
		_, err = frame.NewCodec().DecodeFrame(nc)
	}
	if err != nil {
		nc.Close()
	}
	return nc, err
}

// sendMutated sends frames or segments, some of them broken, some before the startup, and reads for
// a while.
func sendMutated(r *rand.Rand, addr string) {
	version := pick(r, primitive.ProtocolVersion4, primitive.ProtocolVersion5, primitive.ProtocolVersion5)
	compressed := r.IntN(2) == 0
	open := connect
	fresh := r.IntN(6) == 0
	if fresh {
		open = func(addr string, _ primitive.ProtocolVersion, _ bool) (net.Conn, error) {
			return net.DialTimeout("tcp", addr, 10*time.Second)
		}
	}
	nc, err := open(addr, version, compressed)
	if err != nil {
		return // the watch reports if nobody can connect
	}
	defer nc.Close()
	frames := frame.NewCodec()
	segments := segment.NewCodec()
	if compressed && !fresh {
		if version == primitive.ProtocolVersion4 {
			frames = frame.NewCodecWithCompression(lz4.Compressor{})
		} else {
			segments = segment.NewCodecWithCompression(lz4.Compressor{})
		}
	}
	var out []byte
	for range upTo(r, 20) {
		var b bytes.Buffer
		fr := drawFrame(r, version)
		fr.SetCompress(compressed && version == primitive.ProtocolVersion4 && !fresh)
		if r.IntN(3) == 0 {
			b.Write(drawLoose(r, version))
		} else if frames.EncodeFrame(fr, &b) != nil {
			continue
		}
		inner := b.Bytes()
		if r.IntN(3) == 0 {
			inner = mutate(r, inner)
		}
		if version == primitive.ProtocolVersion5 && !fresh {
			var wrapped bytes.Buffer
			for whole := len(inner) <= segment.MaxPayloadLength; len(inner) > 0; {
				n := min(len(inner), segment.MaxPayloadLength)
				if segments.EncodeSegment(&segment.Segment{Header: &segment.Header{IsSelfContained: whole != (r.IntN(20) == 0)}, Payload: &segment.Payload{UncompressedData: inner[:n]}}, &wrapped) != nil {
					break
				}
				inner = inner[n:]
			}
			inner = wrapped.Bytes()
			if r.IntN(4) == 0 {
				inner = mutate(r, inner) // this mostly makes a wrong CRC
			}
		}
		out = append(out, inner...)
		if len(out) > 4<<20 {
			break
		}
	}
	nc.SetDeadline(time.Now().Add(time.Duration(r.IntN(300)) * time.Millisecond))
	for len(out) > 0 {
		n := min(len(out), upTo(r, 1<<20))
		if _, err := nc.Write(out[:n]); err != nil {
			return
		}
		out = out[n:]
	}
	io.CopyN(io.Discard, nc, int64(upTo(r, 1<<20))) // the answer does not matter
}

// sendGarbage writes random bytes to any of the ports.
func sendGarbage(r *rand.Rand, s *server) {
	nc, err := net.DialTimeout("tcp", pick(r, s.cql, s.dynamo, s.http), 10*time.Second)
	if err != nil {
		return
	}
	defer nc.Close()
	b := make([]byte, upTo(r, 1<<20))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	copy(b, pick(r, "", "\x04\x00\x00\x00\x07\x7f\xff\xff\xff", "\x05\x00\x00\x00\x01\x00\x00\x00\x16", "POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"))
	nc.SetDeadline(time.Now().Add(time.Duration(r.IntN(200)) * time.Millisecond))
	if _, err := nc.Write(b); err == nil {
		io.CopyN(io.Discard, nc, 1<<16)
	}
}

// readSlowly asks for much on many streams, and reads little of it.
func readSlowly(r *rand.Rand, addr string) {
	nc, err := connect(addr, primitive.ProtocolVersion4, false)
	if err != nil {
		return
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Duration(1+r.IntN(10)) * time.Second))
	go func() {
		for i := range upTo(r, 500) {
			q := &message.Query{Query: fmt.Sprintf("SELECT b FROM w.%s WHERE p = 3", workTables[i%4]), Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}}
			if frame.NewCodec().EncodeFrame(frame.NewFrame(primitive.ProtocolVersion4, int16(i), q), nc) != nil {
				return
			}
		}
	}()
	b := make([]byte, 1+r.IntN(4096))
	for {
		if _, err := nc.Read(b); err != nil {
			return
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
	}
}

// readLong asks for an answer of 100 MB and reads it to its end, with pauses.
func readLong(f *field, r *rand.Rand, s *server) {
	nc, err := connect(s.cql, primitive.ProtocolVersion4, false)
	if err != nil {
		return
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(2 * time.Minute))
	text := fmt.Sprintf("SELECT b, b, b, b FROM w.%s WHERE p = 3", pick(r, workTables...))
	q := &message.Query{Query: text, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}}
	if err := frame.NewCodec().EncodeFrame(frame.NewFrame(primitive.ProtocolVersion4, 1, q), nc); err != nil {
		return
	}
	var header [primitive.FrameHeaderLengthV3AndHigher]byte
	_, err = io.ReadFull(nc, header[:])
	length := int64(binary.BigEndian.Uint32(header[5:]))
	var came int64
	for longest := r.IntN(200); err == nil && came < length; {
		var n int64
		n, err = io.CopyN(io.Discard, nc, min(1<<20, length-came))
		came += n
		time.Sleep(time.Duration(r.IntN(longest+1)) * time.Millisecond)
	}
	if err != nil && s.alive() {
		f.fault("an answer is cut short", "%s: %d of %d bytes: %v", text, came, length, err)
	}
}

// idle opens connections that send little or nothing, and holds them for a while.
func idle(r *rand.Rand, s *server) {
	var all []net.Conn
	defer func() {
		for _, nc := range all {
			nc.Close()
		}
	}()
	for range upTo(r, 600) {
		nc, err := net.DialTimeout("tcp", pick(r, s.cql, s.dynamo), 10*time.Second)
		if err != nil {
			return
		}
		all = append(all, nc)
		part := []byte("\x04\x00\x00\x00\x01\x00\x00\x00\x16\x00\x01\x00\x0bCQL_VERSION")
		nc.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := nc.Write(part[:r.IntN(len(part))]); err != nil {
			return
		}
	}
	time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
}
