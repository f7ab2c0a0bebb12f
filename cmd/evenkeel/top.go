// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/evenkeel/evenkeel/observe/top"
)

// topCmd holds the arguments of `evenkeel top`.
type topCmd struct {
	Address  string        `arg:"" optional:"" default:"127.0.0.1:8080" placeholder:"ADDR" help:"The server's --listen-http, as HOST:PORT or as a URL (${default})."`
	Interval time.Duration `default:"2s" help:"How often the command reads the figures (${default})."`
	Once     bool          `help:"Read twice, an interval apart, print the figures of the time between the readings, and end."`
	JSON     bool          `name:"json" help:"Print the figures as JSON, one object on each line."`
	Tables   int           `default:"10" placeholder:"N" help:"How many tables to show, the busiest first (${default})."`
}

// Run shows a server's figures until it is interrupted.
func (c *topCmd) Run(std *stdio) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	at, err := c.url()
	if err != nil {
		return err
	}
	if c.Interval < 100*time.Millisecond {
		return withHint(fmt.Errorf("--interval: %s is too short", c.Interval), "give it 100ms at least; 2s is the default")
	}
	if c.Tables < 1 {
		return fmt.Errorf("--tables: %d is not a number of tables to show", c.Tables)
	}
	last, err := c.read(ctx, at)
	if err != nil {
		return err
	}
	screen := newScreen(std.out)
	defer screen.close()
	resized := make(chan os.Signal, 1)
	notifyResize(resized)
	defer signal.Stop(resized)
	ticker := time.NewTicker(c.Interval)
	defer ticker.Stop()
	var shown *top.Report
	if c.Once && c.Interval > 2*time.Second {
		fmt.Fprintf(std.err, "evenkeel: measuring for %s\n", c.Interval)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-resized:
			if shown != nil && !c.JSON && screen.live {
				screen.show(shown, at, c.Tables)
			}
			continue
		case <-ticker.C:
		}
		now, err := c.read(ctx, at)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (c.Once || c.JSON || !screen.live):
			return err
		case err != nil:
			screen.fail(err, at)
			last = nil
			continue
		}
		if last == nil { // the server could not be reached before
			last = now
			continue
		}
		shown = top.Compare(last, now)
		last = now
		switch {
		case c.JSON:
			text, err := json.Marshal(shown)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(std.out, "%s\n", text); err != nil {
				return fmt.Errorf("write the figures: %w", err)
			}
		case screen.live && !c.Once:
			screen.show(shown, at, c.Tables)
		default:
			if _, err := io.WriteString(std.out, shown.Text(at, c.Tables, 0)); err != nil {
				return fmt.Errorf("write the figures: %w", err)
			}
		}
		if c.Once {
			return nil
		}
	}
}

// url returns the URL of the server's metrics.
func (c *topCmd) url() (string, error) {
	text := c.Address
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", withHint(fmt.Errorf("%q is not the address of a server", c.Address), "HOST:PORT of its --listen-http, such as 127.0.0.1:8080")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	return u.String(), nil
}

// read reads the metrics once.
func (c *topCmd) read(ctx context.Context, at string) (*top.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, max(5*time.Second, c.Interval))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", at, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, withHint(fmt.Errorf("nothing listens at %s", at), "is `evenkeel serve` running? Give top the address of its --listen-http, which must not be off")
		}
		return nil, fmt.Errorf("read %s: %w", at, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, withHint(fmt.Errorf("%s answers %s", at, resp.Status), "give top the address of evenkeel's --listen-http")
	}
	s, err := top.Parse(io.LimitReader(resp.Body, 64<<20), time.Now())
	if err != nil {
		return nil, withHint(fmt.Errorf("what %s answers: %w", at, err), "give top the address of evenkeel's --listen-http")
	}
	return s, nil
}

// screen is a terminal that is redrawn in place, or any other output.
type screen struct {
	out  io.Writer
	file *os.File
	live bool // it is a terminal
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		s.file = f
	}
	s.live = s.file != nil
	return s
}

// These are escape sequences of ECMA-48, and of xterm for the alternate screen.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

var entered bool

// draw replaces the last picture in a single write, so that nothing flickers.
func (s *screen) draw(text string) {
	width, height, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	var b strings.Builder
	if !entered {
		b.WriteString(enterScreen)
		entered = true
	}
	b.WriteString(home)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if r := []rune(line); len(r) > width {
			line = string(r[:width])
		}
		b.WriteString(line + clearLine)
	}
	b.WriteString(clearBelow)
	_, _ = io.WriteString(s.out, b.String()) // if the terminal is gone, a signal ends the process
}

func (s *screen) show(r *top.Report, at string, tables int) {
	_, height, err := term.GetSize(int(s.file.Fd()))
	if err != nil {
		height = 24
	}
	s.draw(r.Text(at, tables, height))
}

func (s *screen) fail(err error, at string) {
	s.draw(fmt.Sprintf("evenkeel top %s\n\n%v\ntrying again; ctrl-c ends", at, err))
}

// close restores the terminal.
func (s *screen) close() {
	if s.live && entered {
		_, _ = io.WriteString(s.out, leaveScreen)
		entered = false
	}
}
