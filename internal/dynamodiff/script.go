// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"fmt"
	"strings"
)

// Step is a request of a script.
type Step struct {
	Line      int
	Operation string
	Body      string
	// Differs is why the answers are not to be equal; empty where they are.
	Differs string
}

// ParseScript parses a script: requests parted by empty lines, each an operation
// and its body, which may go on over lines. Lines that begin with # are comments; a
// line "differs: REASON" before a request says that its answers are to differ.
func ParseScript(text string) ([]Step, error) {
	var steps []Step
	var s *Step
	differs := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "#"):
		case trimmed == "":
			s = nil
		case s != nil:
			s.Body += "\n" + line
		default:
			if reason, ok := strings.CutPrefix(trimmed, "differs:"); ok {
				differs = strings.TrimSpace(reason)
				continue
			}
			operation, body, ok := strings.Cut(trimmed, " ")
			if !ok {
				return nil, fmt.Errorf("line %d: an operation and its body are wanted, not %q", i+1, trimmed)
			}
			steps = append(steps, Step{Line: i + 1, Operation: operation, Body: body, Differs: differs})
			s, differs = &steps[len(steps)-1], ""
		}
	}
	return steps, nil
}
