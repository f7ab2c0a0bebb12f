// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Refusals is the exact list of errors with which sharded targets may refuse a statement that the
// judge accepts. Each line of its file is
//
//	ID | code in hexadecimal | regular expression of the message | reason
//
// A bar in the expression is written as \|.
type Refusals struct {
	entries map[string]refusal

	mu  sync.Mutex
	met map[string]int
}

type refusal struct {
	code    int
	message *regexp.Regexp
}

// ReadRefusals reads the list.
func ReadRefusals(path string) (*Refusals, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("difftest: %w", err)
	}
	r := &Refusals{entries: map[string]refusal{}, met: map[string]int{}}
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fail := func(err any) (*Refusals, error) { return nil, fmt.Errorf("difftest: %s:%d: %v", path, i+1, err) }
		f := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(f) != 4 {
			return fail("want ID | code | pattern | reason")
		}
		code, err := strconv.ParseInt(strings.TrimSpace(f[1]), 16, 32)
		if err != nil {
			return fail(err)
		}
		re, err := regexp.Compile(strings.ReplaceAll(strings.TrimSpace(f[2]), "\x00", "|"))
		if err != nil {
			return fail(err)
		}
		id := strings.TrimSpace(f[0])
		if _, twice := r.entries[id]; twice {
			return fail(id + " is there twice")
		}
		r.entries[id] = refusal{int(code), re}
	}
	return r, nil
}

// Match reports whether the error is refusal id.
func (r *Refusals) Match(id string, a *Answer) bool {
	e, ok := r.entries[id]
	if !ok || int(a.Code) != e.code || !e.message.MatchString(a.Text) {
		return false
	}
	r.mu.Lock()
	r.met[id]++
	r.mu.Unlock()
	return true
}

// Any returns the id of the refusal that matches the error, or "".
func (r *Refusals) Any(a *Answer) string {
	for id := range r.entries {
		if r.Match(id, a) {
			return id
		}
	}
	return ""
}

// Unmet returns the ids that matched no error.
func (r *Refusals) Unmet() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for id := range r.entries {
		if r.met[id] == 0 {
			out = append(out, id)
		}
	}
	sort.Strings(out)
	return out
}
