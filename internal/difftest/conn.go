// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/compression/lz4"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/datastax/go-cassandra-native-protocol/segment"
)

// Conn is one connection with one request in flight. Only one goroutine may use it at a time.
type Conn struct {
	version primitive.ProtocolVersion
	nc      net.Conn
	r       io.Reader // source of frames: the connection, or the segments' payloads
	raw     *bufio.Reader
	framed  bool // v5 after STARTUP: frames are in segments
	stream  int16
	limit   time.Duration // of one request

	frames   frame.Codec
	compress bool // v4: frames after STARTUP are compressed
	segments segment.Codec
}

const requestLimit = 60 * time.Second

const dialLimit = 10 * time.Second

// Dial connects and starts up, with credentials if username is not empty.
func Dial(addr string, version primitive.ProtocolVersion, username, password string) (*Conn, error) {
	return dial(addr, version, username, password, false, dialLimit, requestLimit)
}

// DialWithin dials a connection whose requests, and the dialling, may each take so long.
func DialWithin(limit time.Duration, addr string, version primitive.ProtocolVersion) (*Conn, error) {
	return dial(addr, version, "", "", false, limit, limit)
}

// DialLZ4 dials a connection that uses compression.
func DialLZ4(addr string, version primitive.ProtocolVersion, username, password string) (*Conn, error) {
	return dial(addr, version, username, password, true, dialLimit, requestLimit)
}

func dial(addr string, version primitive.ProtocolVersion, username, password string, compress bool, toDial, toAnswer time.Duration) (*Conn, error) {
	nc, err := net.DialTimeout("tcp", addr, toDial)
	if err != nil {
		return nil, fmt.Errorf("difftest: %w", err)
	}
	c := &Conn{version: version, nc: nc, raw: bufio.NewReaderSize(nc, 64<<10), frames: frame.NewCodec(), segments: segment.NewCodec(), limit: toAnswer}
	c.r = c.raw
	startup := message.NewStartup()
	if compress {
		startup.SetCompression(primitive.CompressionLz4)
		if version >= primitive.ProtocolVersion5 {
			c.segments = segment.NewCodecWithCompression(lz4.Compressor{})
		} else {
			c.frames = frame.NewCodecWithCompression(lz4.Compressor{})
		}
	}
	if err := c.start(startup, username, password); err != nil {
		nc.Close()
		return nil, fmt.Errorf("difftest: start up at %s: %w", addr, err)
	}
	return c, nil
}

func (c *Conn) start(startup *message.Startup, username, password string) error {
	f, err := c.Call(startup)
	if err != nil {
		return err
	}
	if c.version >= primitive.ProtocolVersion5 {
		c.framed = true
		c.r = &segmentReader{codec: c.segments, src: c.raw}
	}
	c.compress = startup.GetCompression() != primitive.CompressionNone && !c.framed
	switch m := f.Body.Message.(type) {
	case *message.Ready:
		return nil
	case *message.Authenticate:
		f, err := c.Call(&message.AuthResponse{Token: []byte("\x00" + username + "\x00" + password)})
		if err != nil {
			return err
		}
		if _, ok := f.Body.Message.(*message.AuthSuccess); !ok {
			return fmt.Errorf("log in as %s: %v", username, f.Body.Message)
		}
		return nil
	default:
		return fmt.Errorf("answer to STARTUP: %v", m)
	}
}

// Close closes the connection.
func (c *Conn) Close() error { return c.nc.Close() }

// Call sends a request and returns the answer's frame. An ERROR is an answer, not an error.
func (c *Conn) Call(m message.Message) (*frame.Frame, error) { return c.call(m, nil) }

func (c *Conn) call(m message.Message, payload map[string][]byte) (*frame.Frame, error) {
	c.stream = (c.stream + 1) & 0x7fff
	var b bytes.Buffer
	f := frame.NewFrame(c.version, c.stream, m)
	f.SetCompress(c.compress)
	if payload != nil {
		f.SetCustomPayload(payload)
	}
	if err := c.frames.EncodeFrame(f, &b); err != nil {
		return nil, fmt.Errorf("encode %v: %w", m, err)
	}
	return c.roundTrip(b.Bytes())
}

func (c *Conn) roundTrip(b []byte) (*frame.Frame, error) {
	if err := c.nc.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return nil, err
	}
	if err := c.write(b); err != nil {
		return nil, err
	}
	for {
		f, err := c.frames.DecodeFrame(c.r)
		if err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		if f.Header.StreamId == c.stream {
			return f, nil
		}
		if f.Header.StreamId >= 0 {
			return nil, fmt.Errorf("answer on stream %d to a request on stream %d: %v", f.Header.StreamId, c.stream, f.Body.Message)
		}
	}
}

func (c *Conn) write(b []byte) error {
	if !c.framed {
		_, err := c.nc.Write(b)
		return err
	}
	var out bytes.Buffer
	selfContained := len(b) <= segment.MaxPayloadLength
	for len(b) > 0 {
		n := min(len(b), segment.MaxPayloadLength)
		s := &segment.Segment{
			Header:  &segment.Header{IsSelfContained: selfContained},
			Payload: &segment.Payload{UncompressedData: b[:n]},
		}
		if err := c.segments.EncodeSegment(s, &out); err != nil {
			return err
		}
		b = b[n:]
	}
	_, err := c.nc.Write(out.Bytes())
	return err
}

// segmentReader reads the payloads of v5 segments as a stream.
type segmentReader struct {
	codec segment.Codec
	src   io.Reader
	left  []byte
}

func (r *segmentReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		s, err := r.codec.DecodeSegment(r.src)
		if err != nil {
			return 0, err
		}
		r.left = s.Payload.UncompressedData
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Request is a statement and how to send it.
type Request struct {
	Query       string
	Values      []*primitive.Value
	PageSize    int32
	State       []byte
	Timestamp   *int64
	Now         *int32 // v5: the request's current time, in seconds
	Consistency primitive.ConsistencyLevel
	Serial      primitive.ConsistencyLevel // 0: none
	Keyspace    string                     // v5: for this request
	SkipMeta    bool
}

func (r Request) options() *message.QueryOptions {
	o := &message.QueryOptions{
		Consistency: r.Consistency, PositionalValues: r.Values, PageSize: r.PageSize, PagingState: r.State,
		DefaultTimestamp: r.Timestamp, NowInSeconds: r.Now, Keyspace: r.Keyspace, SkipMetadata: r.SkipMeta,
	}
	if o.Consistency == primitive.ConsistencyLevelAny { // the zero value; no read can have it
		o.Consistency = primitive.ConsistencyLevelOne
	}
	if r.Serial != 0 {
		o.SerialConsistency = &r.Serial
	}
	return o
}

// Query sends a QUERY.
func (c *Conn) Query(r Request) (*Answer, error) {
	return c.answer(&message.Query{Query: r.Query, Options: r.options()})
}

// Prepare sends a PREPARE.
func (c *Conn) Prepare(query string) (*Answer, error) {
	if query == "" {
		return nil, errors.New("an empty PREPARE cannot be encoded")
	}
	return c.answer(&message.Prepare{Query: query})
}

// Execute sends an EXECUTE of Prepare's answer p. If an answer's rows have no metadata, they get
// those of p. If the server has forgotten the statement (its cache is bounded), Execute prepares it
// again if r.Query has its text, as drivers do.
func (c *Conn) Execute(p *Answer, r Request) (*Answer, error) {
	a, err := c.answer(&message.Execute{QueryId: p.ID, ResultMetadataId: p.MetadataID, Options: r.options()})
	for range 5 {
		if err != nil || a.Kind != Error || a.Code != primitive.ErrorCodeUnprepared || r.Query == "" {
			break
		}
		again, err := c.Prepare(r.Query)
		if err != nil || again.Kind != Prepared {
			return again, err
		}
		if a, err = c.answer(&message.Execute{QueryId: again.ID, ResultMetadataId: again.MetadataID, Options: r.options()}); err != nil {
			return nil, err
		}
	}
	if err == nil && a.Kind == Rows && a.Columns == nil {
		a.Columns = p.Columns
	}
	return a, err
}

// Batch sends a BATCH.
func (c *Conn) Batch(b *message.Batch) (*Answer, error) {
	if b.Consistency == primitive.ConsistencyLevelAny {
		b.Consistency = primitive.ConsistencyLevelOne
	}
	return c.answer(b)
}

// Send sends any request.
func (c *Conn) Send(m message.Message) (*Answer, error) { return c.answer(m) }

// SendPayload sends a request with a custom payload, and also returns the answer's payload.
func (c *Conn) SendPayload(m message.Message, payload map[string][]byte) (*Answer, map[string][]byte, error) {
	f, err := c.call(m, payload)
	if err != nil {
		return nil, nil, fmt.Errorf("difftest: %w", err)
	}
	a, err := newAnswer(f)
	return a, f.Body.CustomPayload, err
}

func (c *Conn) answer(m message.Message) (*Answer, error) {
	f, err := c.Call(m)
	if err != nil {
		return nil, fmt.Errorf("difftest: %w", err)
	}
	return newAnswer(f)
}
