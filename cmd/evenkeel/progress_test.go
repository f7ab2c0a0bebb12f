// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/workbench/rows"
)

// On a terminal, progress is a bar that the command redraws, and removes at the end. Elsewhere it
// is one line, after two seconds.
func TestProgress(t *testing.T) {
	src, err := rows.Open("-", rows.Options{Stdin: strings.NewReader("a\n1\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	p := newProgress(&out, src)
	p.rows(0, 4096)
	if p.end(); out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
	p.began = p.began.Add(-progressAfter)
	for n := range int64(5) {
		p.last = time.Time{}
		p.rows(0, (n+1)*4096)
	}
	if p.end(); out.String() != "evenkeel: reading standard input: 4096 rows, 0.0 MB so far\n" {
		t.Errorf("elsewhere: %q", out.String())
	}

	out.Reset()
	p = newProgress(&out, src)
	p.terminal, p.began = true, p.began.Add(-progressAfter)
	for n := range int64(3) {
		p.last = time.Time{}
		p.rows(0, (n+1)*4096)
	}
	p.rows(0, 4*4096) // too soon for another
	if p.end(); strings.Count(out.String(), "rows/s") != 3 || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("on a terminal: %q", out.String())
	}
}
