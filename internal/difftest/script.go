// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Script is a file of CQL statements, each ended by a semicolon at the end of a
// line. Lines that begin with "-- @" annotate the next statement:
//
//	-- @error 2200       the judge answers with this error code (hexadecimal);
//	                     a statement without it must succeed there
//	-- @code-only        of the error only the code is compared
//	-- @unordered        sharded targets may give the rows in another order
//	-- @refused ID       sharded targets (and those whose Refuses has it) refuse,
//	                     as testdata/refusals.txt says; the others answer as the judge
//	-- @unsharded-only   the statement is not sent to sharded targets
//	-- @bind V, V …      prepared and executed with these values: 1, 'text', true,
//	                     1.5, a uuid, 0xCAFE (the serialized bytes), null, unset
//	-- @pages 1 2        the page sizes to read by (default: the script's)
//	-- @timestamp N      the protocol's default timestamp
//	-- @now N            the protocol's now, N seconds after the script's begin (v5)
//	-- @wait 2s          sleep first
//	-- @placed TABLE N   instead of a statement: sharded targets' physical table has rows
//	                     in at least N shards (in all, if it has fewer)
//
// and those that begin with "-- @@" the whole script:
//
//	-- @@ttl             answers depend on the clock: a read that differs is repeated
//	-- @@server-time     no default timestamps are sent: the coordinator stamps
//	-- @@pages 1 2 7     page sizes for every SELECT (default 1 3 100)
//	-- @@versions 4 5    protocol versions (default 5)
//
// "$ks" is the session's keyspace.
type Script struct {
	Name       string
	Steps      []Step
	TTL        bool
	ServerTime bool
	Pages      []int32
	Versions   []int
}

// Step is one statement with its annotations.
type Step struct {
	Line          int
	Text          string
	Error         int // the expected code; -1: none (0 is SERVER_ERROR)
	CodeOnly      bool
	Unordered     bool
	Refused       string
	UnshardedOnly bool
	Bind          []string // nil: no @bind
	Pages         []int32
	Timestamp     *int64
	Now           *int32
	Wait          time.Duration

	PlacedTable string
	PlacedMin   int
}

// ReadScript reads a script from a file.
func ReadScript(path string) (*Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("difftest: %w", err)
	}
	s, err := ParseScript(strings.TrimSuffix(filepath.Base(path), ".cql"), string(b))
	if err != nil {
		return nil, fmt.Errorf("difftest: %s: %w", path, err)
	}
	return s, nil
}

// ParseScript parses the text of a script.
func ParseScript(name, text string) (*Script, error) {
	s := &Script{Name: name, Pages: []int32{1, 3, 100}, Versions: []int{5}}
	step := Step{Error: -1}
	var body []string
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		fail := func(err error) error { return fmt.Errorf("line %d: %w", i+1, err) }
		switch {
		case len(body) == 0 && strings.HasPrefix(trimmed, "-- @@"):
			if err := s.annotate(strings.TrimPrefix(trimmed, "-- @@")); err != nil {
				return nil, fail(err)
			}
		case len(body) == 0 && strings.HasPrefix(trimmed, "-- @"):
			if err := step.annotate(strings.TrimPrefix(trimmed, "-- @")); err != nil {
				return nil, fail(err)
			}
			if step.PlacedTable != "" {
				step.Line = i + 1
				s.Steps = append(s.Steps, step)
				step = Step{Error: -1}
			}
		case len(body) == 0 && (trimmed == "" || strings.HasPrefix(trimmed, "--")):
		default:
			if len(body) == 0 {
				step.Line = i + 1
			}
			body = append(body, line)
			if strings.HasSuffix(trimmed, ";") && !openBatch(body) {
				step.Text = strings.TrimSuffix(strings.TrimSpace(strings.Join(body, "\n")), ";")
				s.Steps = append(s.Steps, step)
				step, body = Step{Error: -1}, nil
			}
		}
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("line %d: a statement without a semicolon", step.Line)
	}
	if len(s.Steps) == 0 {
		return nil, fmt.Errorf("no statement")
	}
	return s, nil
}

var (
	beginBatch = regexp.MustCompile(`(?is)^\s*BEGIN\b`)
	applyBatch = regexp.MustCompile(`(?is)\bAPPLY\s+BATCH\s*;$`)
)

func openBatch(body []string) bool {
	text := strings.TrimSpace(strings.Join(body, "\n"))
	return beginBatch.MatchString(text) && !applyBatch.MatchString(text)
}

func (s *Script) annotate(a string) (err error) {
	word, rest, _ := strings.Cut(a, " ")
	switch word {
	case "ttl":
		s.TTL = true
	case "server-time":
		s.ServerTime = true
	case "pages":
		s.Pages, err = int32s(rest)
	case "versions":
		s.Versions = nil
		for _, f := range strings.Fields(rest) {
			v, err := strconv.Atoi(f)
			if err != nil {
				return err
			}
			s.Versions = append(s.Versions, v)
		}
	default:
		err = fmt.Errorf("no such annotation of a script: @@%s", word)
	}
	return err
}

func (p *Step) annotate(a string) (err error) {
	word, rest, _ := strings.Cut(a, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "error":
		var code int64
		code, err = strconv.ParseInt(rest, 16, 32)
		p.Error = int(code)
	case "code-only":
		p.CodeOnly = true
	case "unordered":
		p.Unordered = true
	case "refused":
		p.Refused = rest
	case "unsharded-only":
		p.UnshardedOnly = true
	case "bind":
		p.Bind = splitValues(rest)
	case "pages":
		p.Pages, err = int32s(rest)
	case "timestamp":
		var ts int64
		ts, err = strconv.ParseInt(rest, 10, 64)
		p.Timestamp = &ts
	case "now":
		var n int64
		n, err = strconv.ParseInt(rest, 10, 32)
		now := int32(n)
		p.Now = &now
	case "wait":
		p.Wait, err = time.ParseDuration(rest)
	case "placed":
		_, err = fmt.Sscanf(rest, "%s %d", &p.PlacedTable, &p.PlacedMin)
	default:
		err = fmt.Errorf("no such annotation: @%s", word)
	}
	return err
}

func int32s(s string) ([]int32, error) {
	out := []int32{}
	for _, f := range strings.Fields(s) {
		n, err := strconv.ParseInt(f, 10, 32)
		if err != nil {
			return nil, err
		}
		out = append(out, int32(n))
	}
	return out, nil
}

// splitValues splits at commas outside quotes.
func splitValues(s string) []string {
	out := []string{}
	var b strings.Builder
	quoted := false
	for _, r := range s {
		switch {
		case r == '\'':
			quoted = !quoted
			b.WriteRune(r)
		case r == ',' && !quoted:
			out = append(out, strings.TrimSpace(b.String()))
			b.Reset()
		default:
			b.WriteRune(r)
		}
	}
	if last := strings.TrimSpace(b.String()); last != "" || len(out) > 0 {
		out = append(out, last)
	}
	return out
}
