// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// inspectProgress reports the progress of an inspection on stderr after the first two seconds: a
// bar on a terminal, one line elsewhere. It is safe for concurrent use.
type inspectProgress struct {
	out      io.Writer
	terminal bool
	expected inspection.Prediction

	mu          sync.Mutex
	began, last time.Time
	shown       bool
	read        int64
	done        float64 // share of the ranges
}

func newInspectProgress(out io.Writer, expected inspection.Prediction) *inspectProgress {
	p := &inspectProgress{out: out, expected: expected, began: time.Now()}
	if f, ok := out.(*os.File); ok {
		st, err := f.Stat()
		p.terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// rows adds n rows that have been read.
func (p *inspectProgress) rows(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += n
	p.show()
}

// ranges sets the share of the ranges whose reading has begun.
func (p *inspectProgress) ranges(done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	p.show()
}

func (p *inspectProgress) show() {
	now := time.Now()
	if p.shown && !p.terminal || now.Sub(p.began) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	spent := now.Sub(p.began)
	rate := float64(p.read) / spent.Seconds()
	left := ""
	if p.done > 0.01 {
		left = fmt.Sprintf(", %s left", time.Duration(float64(spent)*(1/p.done-1)).Round(time.Second))
	}
	if !p.terminal {
		fmt.Fprintf(p.out, "evenkeel: reading: %d rows of about %s so far, %.0f rows/s%s\n", p.read, capacity.Number(math.Round(p.expected.Rows)), rate, left)
		return
	}
	full := int(p.done * 30)
	fmt.Fprintf(p.out, "\r\x1b[K%s%s %3.0f%%  %d rows, %.0f rows/s%s", strings.Repeat("█", full), strings.Repeat("░", 30-full), 100*p.done, p.read, rate, left)
}

// end removes the bar.
func (p *inspectProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown && p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
