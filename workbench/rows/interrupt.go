// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"errors"
	"io"
)

// errInterrupted ends the reading of data that come from elsewhere.
var errInterrupted = errors.New("interrupted")

// interruptible is a reader of data that may come slowly, or never: it stops reading when stop is
// closed. A goroutine reads ahead. It ends with the data, or with the process.
type interruptible struct {
	stop  <-chan struct{}
	ready chan chunk
	spare chan []byte
	now   []byte // not returned yet
	whole []byte // the buffer of now
	err   error
}

type chunk struct {
	data []byte
	err  error
}

const chunkSize = 64 << 10

func newInterruptible(r io.Reader, stop <-chan struct{}) *interruptible {
	i := &interruptible{stop: stop, ready: make(chan chunk), spare: make(chan []byte, 2)}
	i.spare <- make([]byte, chunkSize)
	i.spare <- make([]byte, chunkSize)
	go func() {
		for {
			var buf []byte
			select {
			case buf = <-i.spare:
			case <-stop:
				return
			}
			n, err := r.Read(buf)
			select {
			case i.ready <- chunk{buf[:n], err}:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return i
}

func (i *interruptible) Read(p []byte) (int, error) {
	for len(i.now) == 0 {
		if i.whole != nil {
			i.spare <- i.whole[:chunkSize] // spare has room for both chunks
			i.whole = nil
		}
		if i.err != nil {
			return 0, i.err
		}
		select {
		case <-i.stop:
			i.err = errInterrupted
		case c := <-i.ready:
			i.now, i.whole, i.err = c.data, c.data, c.err
		}
	}
	n := copy(p, i.now)
	i.now = i.now[n:]
	return n, nil
}
