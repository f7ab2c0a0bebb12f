// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress reports on stderr how much of a file has been read, after the first two seconds: a bar
// on a terminal, one line elsewhere.
type progress struct {
	out      io.Writer
	src      source
	terminal bool
	began    time.Time
	last     time.Time
	shown    bool
}

// source is a file or a table of a store that is being read.
type source interface {
	Name() string
	Progress() (read, size int64) // bytes; size is 0 if unknown
}

func newProgress(out io.Writer, src source) *progress {
	p := &progress{out: out, src: src, began: time.Now()}
	if f, ok := out.(*os.File); ok {
		st, err := f.Stat()
		p.terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return p
}

const (
	progressAfter = 2 * time.Second
	progressEvery = 200 * time.Millisecond
)

// rows sets the number of rows read so far (rows.ScanOptions.Progress).
func (p *progress) rows(_, n int64) {
	if p.shown && !p.terminal {
		return
	}
	now := time.Now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	read, size := p.src.Progress()
	if !p.terminal {
		of := ""
		if size > 0 {
			of = fmt.Sprintf(" of %s", megabytes(size))
		}
		fmt.Fprintf(p.out, "evenkeel: reading %s: %d rows, %s%s so far\n", p.src.Name(), n, megabytes(read), of)
		return
	}
	rate := float64(n) / now.Sub(p.began).Seconds()
	if size == 0 {
		fmt.Fprintf(p.out, "\r\x1b[K%d rows, %s, %.0f rows/s", n, megabytes(read), rate)
		return
	}
	done := min(1, float64(read)/float64(size))
	left := time.Duration(float64(now.Sub(p.began)) * (1/max(done, 1e-6) - 1)).Round(time.Second)
	full := int(done * 30)
	fmt.Fprintf(p.out, "\r\x1b[K%s%s %3.0f%%  %.0f rows/s  %s left", strings.Repeat("█", full), strings.Repeat("░", 30-full), 100*done, rate, left)
}

// phase begins one of several readings. If the one before took long, it prints what this one is
// for.
func (p *progress) phase(of string) {
	if p.shown {
		p.end()
		fmt.Fprintf(p.out, "evenkeel: reading %s again, for %s\n", p.src.Name(), of)
	}
	p.began = time.Now()
}

// end removes the bar.
func (p *progress) end() {
	if p.shown && p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
