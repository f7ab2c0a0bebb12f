// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// identifiers parses CQL identifiers separated by commas. Unquoted ones are folded to lower case.
// In quoted ones "" stands for one double quote.
func identifiers(s string) ([]string, error) {
	var names []string
	for {
		s = strings.TrimLeft(s, " \t")
		var name string
		if strings.HasPrefix(s, `"`) {
			end := 1
			for ; ; end++ {
				i := strings.IndexByte(s[end:], '"')
				if i < 0 {
					return nil, errors.New("a double quote is not closed")
				}
				end += i + 1
				if !strings.HasPrefix(s[end:], `"`) {
					break
				}
			}
			name, s = strings.ReplaceAll(s[1:end-1], `""`, `"`), s[end:]
		} else {
			end := 0
			for end < len(s) && plain(s[end], end) {
				end++
			}
			name, s = strings.ToLower(s[:end]), s[end:]
		}
		s = strings.TrimLeft(s, " \t")
		switch {
		case s != "" && s[0] != ',':
			return nil, fmt.Errorf("%q cannot be part of a plain name", s[:1])
		case name == "":
			return nil, errors.New("a name is missing")
		case slices.Contains(names, name):
			return nil, fmt.Errorf("%s is named twice", name)
		}
		names = append(names, name)
		if s == "" {
			return names, nil
		}
		s = s[1:]
	}
}

// plain says whether c may be at position i of an unquoted identifier.
func plain(c byte, i int) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && (c >= '0' && c <= '9' || c == '_')
}

// quote formats a name so that identifiers parses it back.
func quote(name string) string {
	for i := range len(name) {
		if c := name[i]; !plain(c, i) || c >= 'A' && c <= 'Z' {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}
