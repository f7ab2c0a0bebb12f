// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// stream is the unpacked bytes of the data, with a head that can be examined.
type stream struct {
	s    *Source
	r    *bufio.Reader
	done []func()
}

func (st *stream) close() {
	for _, f := range st.done {
		f()
	}
	st.done = nil
}

// headSize is how much of the data is examined to find the format.
const headSize = 1 << 20

// unpack undoes compression. It removes an extension that names the compression from ext.
func (s *Source) unpack(in io.Reader, ext *string) (*stream, error) {
	s.read.Store(0)
	st := &stream{s: s}
	r := bufio.NewReaderSize(&counter{in, &s.read}, 64<<10)
	magic, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.readError(err, 0)
	}
	packed := ""
	switch e := filepath.Ext(*ext); e {
	case ".gz", ".zst", ".zstd":
		packed = e
		*ext = strings.TrimSuffix(*ext, e)
	}
	switch {
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, s.readError(err, 0)
		}
		s.packing = "gzip"
		st.r = bufio.NewReaderSize(z, headSize)
	case string(magic) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, s.readError(err, 0)
		}
		s.packing = "zstd"
		st.done = append(st.done, z.Close)
		st.r = bufio.NewReaderSize(z, headSize)
	case packed != "" && len(magic) > 0:
		return nil, &Unreadable{Name: s.name, Err: fmt.Errorf("is not what its name says (%s)", packed), hint: "rename it after what it holds"}
	default:
		st.r = bufio.NewReaderSize(r, headSize)
	}
	return st, nil
}

// stream returns the data from their beginning: first the stream that Open opened, later the file
// opened again, or the copy of standard input.
func (s *Source) stream() (*stream, error) {
	if st := s.first; st != nil {
		s.first = nil
		return st, nil
	}
	var in io.Reader
	var done []func()
	switch {
	case s.path != "":
		f, err := os.Open(s.path)
		if err != nil {
			return nil, openError(s.path, err)
		}
		in, done = f, []func(){func() { f.Close() }}
	case s.data != nil:
		in = bytes.NewReader(s.data)
	case s.spool != nil:
		if _, err := s.spool.Seek(0, io.SeekStart); err != nil {
			return nil, s.readError(err, 0)
		}
		in = s.spool
	default:
		return nil, &Unreadable{Name: s.name, Err: errors.New("can be read only once"), hint: "give a file"}
	}
	ext := ""
	st, err := s.unpack(in, &ext)
	if err != nil {
		for _, f := range done {
			f()
		}
		return nil, err
	}
	st.done = append(st.done, done...)
	if err := st.skipMark(); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (st *stream) parquet() bool {
	magic, _ := st.r.Peek(4) // shorter data have no magic number
	return string(magic) == "PAR1"
}

// skipMark skips the byte order mark of UTF-8, and refuses other marks.
func (st *stream) skipMark() error {
	mark, _ := st.r.Peek(3) // shorter data have no mark
	switch {
	case string(mark) == "\xef\xbb\xbf":
		_, _ = st.r.Discard(3) // these bytes are buffered
	case len(mark) >= 2 && (string(mark[:2]) == "\xff\xfe" || string(mark[:2]) == "\xfe\xff"):
		return &Unreadable{Name: st.s.name, Line: 1, Err: errors.New("is UTF-16; UTF-8 is wanted"), hint: "iconv -f UTF-16 -t UTF-8 makes one of the other"}
	}
	return nil
}

// firstByte returns the first byte that is not white space. It searches only the head.
func (st *stream) firstByte() (byte, error) {
	for n := 1; ; n++ {
		b, err := st.r.Peek(n)
		if len(b) < n {
			if errors.Is(err, bufio.ErrBufferFull) {
				return 0, nil
			}
			return 0, err
		}
		switch c := b[n-1]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c, nil
		}
	}
}

// head returns the beginning of the data, up to headSize. all reports whether that is everything.
func (st *stream) head() (head []byte, all bool, err error) {
	head, err = st.r.Peek(headSize)
	switch {
	case err == nil, errors.Is(err, bufio.ErrBufferFull):
		return head, false, nil
	case errors.Is(err, io.EOF):
		return head, true, nil
	}
	// An error further on is reported when a reader reaches it.
	if len(head) > 0 {
		return head, false, nil
	}
	return nil, false, st.s.readError(err, 0)
}

// readError explains an error of the underlying reader.
func (s *Source) readError(err error, line int) error {
	u := &Unreadable{Name: s.name, Line: line, Err: err}
	switch {
	case errors.Is(err, errTooLong):
		u.hint = "is a quote not closed, or the line end missing?"
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.Err, u.hint = errors.New("the compressed data end too early"), "the file is cut short: copy it again"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, zstd.ErrMagicMismatch):
		u.Err, u.hint = fmt.Errorf("the compressed data are damaged (%w)", err), "copy the file again"
	}
	return u
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
