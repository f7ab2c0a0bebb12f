// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"errors"
	"io"
)

// pieceSize is about how many bytes of text a goroutine gets at once: some thousand rows, which fit
// into its cache.
const pieceSize = 256 << 10

// padding is the number of zero bytes after a piece, so that words can be read at its end.
const padding = 8

// textFeed splits text into pieces at the ends of records. A piece ends with a line end, even if
// the data do not.
type textFeed struct {
	st *stream
	// cut returns the end of the last complete record in data; 0: there is none.
	cut   func(data []byte) int
	carry []byte // what was read beyond the last piece
	seq   int
	line  int // of the next piece
	ended bool
	fault error // the error with which reading ended, if it is not the end of the data
	err   error // what next returns from now on
}

func (f *textFeed) close() { f.st.close() }

func (f *textFeed) next(w *work) error {
	if f.err != nil {
		return f.err
	}
	buf := append(w.data[:0], f.carry...)
	f.carry = f.carry[:0]
	for want := pieceSize; ; want = min(2*len(buf), MaxRecord+1) {
		if !f.ended {
			buf = f.fill(buf, want)
		}
		end := len(buf)
		switch {
		case !f.ended || f.fault != nil: // a record that an error cut off is not parsed
			end = f.cut(buf)
		case end > 0 && buf[end-1] != '\n':
			buf = append(buf, '\n')
			end++
		}
		switch {
		case end > 0:
			f.carry = append(f.carry, buf[end:]...)
			f.give(w, buf[:end])
			return nil
		case f.fault != nil:
			f.err = f.st.s.readError(f.fault, f.line)
			return f.err
		case f.ended:
			f.err = io.EOF
			return f.err
		case len(buf) > MaxRecord:
			f.err = f.st.s.readError(errTooLong, f.line)
			return f.err
		}
	}
}

// fill reads until there are want bytes, or the data end.
func (f *textFeed) fill(buf []byte, want int) []byte {
	if cap(buf) < want+padding {
		buf = append(make([]byte, 0, want+want/4+padding), buf...)
	}
	for len(buf) < want {
		n, err := f.st.r.Read(buf[len(buf):want])
		buf = buf[:len(buf)+n]
		if err != nil {
			f.ended = true
			if !errors.Is(err, io.EOF) {
				f.fault = err
			}
			return buf
		}
	}
	return buf
}

func (f *textFeed) give(w *work, data []byte) {
	lines := bytes.Count(data, []byte{'\n'})
	w.seq, w.line, w.lines = f.seq, f.line, lines
	w.data = data
	f.seq++
	f.line += lines
}

// padded returns the piece with padding behind it.
func (w *work) padded() []byte {
	n := len(w.data)
	w.data = append(w.data, 0, 0, 0, 0, 0, 0, 0, 0)[:n]
	return w.data
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeros returns the highest bit of each byte of v that is zero, and no other bits.
func zeros(v uint64) uint64 {
	return ^((v&^uint64(highs) + ^uint64(highs)) | v | ^uint64(highs))
}
