// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Affix describes a table that was sharded by hand, with the shard in the partition key itself: at its
// end, as in 121212-3 and 2014-07-09.200, or at its beginning, as in 3-121212. Its shards are numbered
// from First on, in decimal without leading zeros. Those of a Layout are numbered from 1.
type Affix struct {
	Separator string // between the key and the number; not empty, without digits
	First     int    // 0 or 1
	Alike     bool   // keys may themselves end, or begin, like ones with a shard, as 2014-07-10 does
	Front     bool   // the shard is at the beginning
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
		return "", fmt.Errorf("separator %q: it must not be empty and must have no digits, because a number follows it", s)
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

// String returns the kind of the affix: "suffix" or "prefix".
func (a *Affix) String() string {
	if a.Front {
		return "prefix"
	}
	return "suffix"
}

// Join returns the physical partition key of a shard, 1 and more, of a key.
func (a *Affix) Join(key string, shard int) string {
	number := strconv.Itoa(shard - 1 + a.First)
	if a.Front {
		return number + a.Separator + key
	}
	return key + a.Separator + number
}

// Cut splits a physical partition key into the key, which is not empty, and the shard. It returns
// false if the key does not have one of n shards.
func (a *Affix) Cut(physical string, n int) (key string, shard int, ok bool) {
	var digits string
	if a.Front {
		digits, key, ok = strings.Cut(physical, a.Separator)
	} else if i := strings.LastIndex(physical, a.Separator); i >= 0 {
		key, digits, ok = physical[:i], physical[i+len(a.Separator):], true
	}
	number, err := strconv.Atoi(digits)
	if !ok || key == "" || err != nil || strconv.Itoa(number) != digits || number < a.First || number >= a.First+n {
		return physical, 0, false
	}
	return key, number - a.First + 1, true
}
