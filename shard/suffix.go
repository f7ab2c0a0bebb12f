// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Suffix describes a table that was sharded by hand, with the shard at the end of the partition
// key itself: 121212-3, 2014-07-09.200. Its shards are numbered from First on, in decimal without
// leading zeros. Those of a Layout are numbered from 1.
type Suffix struct {
	Separator string // between the key and the number; not empty, without digits
	First     int    // 0 or 1

	// Suffixed says that keys may themselves end like a suffix, as 2014-07-10 does if the
	// separator is a hyphen. If it is false, such a key is taken for one that already has its
	// suffix.
	Suffixed bool
}

// DefaultSeparator is the separator between a key and its shard if none is given.
const DefaultSeparator = "-"

// ParseSeparator parses a separator. A character may be written as U+0023, because the value of a
// tag cannot contain every character.
func ParseSeparator(s string) (string, error) {
	if hex, ok := strings.CutPrefix(s, "U+"); ok {
		r, err := strconv.ParseUint(hex, 16, 21)
		if err != nil || !validRune(rune(r)) {
			return "", fmt.Errorf("separator %s is no character; write for instance U+0023 for #", s)
		}
		s = string(rune(r))
	}
	if s == "" || strings.ContainsAny(s, "0123456789") {
		return "", fmt.Errorf("separator %q: it must not be empty and has no digits, to be told from the number after it", s)
	}
	return s, nil
}

// FormatSeparator formats a separator for the value of a tag, in the form that ParseSeparator
// parses.
func FormatSeparator(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size < len(s) || unicode.IsLetter(r) || strings.ContainsRune("+-=._:/@", r) {
		return s
	}
	return fmt.Sprintf("U+%04X", r)
}

func validRune(r rune) bool { return r > 0 && r <= 0x10ffff && (r < 0xd800 || r > 0xdfff) }

// Join returns the physical partition key of a shard, 1 and more, of a key.
func (s *Suffix) Join(key string, shard int) string {
	return key + s.Separator + strconv.Itoa(shard-1+s.First)
}

// Cut splits a physical partition key into the key, which is not empty, and the shard. It returns
// false if the key does not end in a suffix of n shards.
func (s *Suffix) Cut(physical string, n int) (key string, shard int, ok bool) {
	i := strings.LastIndex(physical, s.Separator)
	if i <= 0 {
		return physical, 0, false
	}
	digits := physical[i+len(s.Separator):]
	number, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(number) != digits || number < s.First || number >= s.First+n {
		return physical, 0, false
	}
	return physical[:i], number - s.First + 1, true
}
