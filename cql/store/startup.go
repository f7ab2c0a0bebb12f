// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"strings"
)

// EncodeStartup encodes STARTUP options in the canonical form of LinkOptions.Startup: sorted,
// with a zero byte after each name and value. So equal options are equal strings.
func EncodeStartup(options map[string]string) string {
	names := make([]string, 0, len(options))
	for name := range options {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name + "\x00" + options[name] + "\x00")
	}
	return b.String()
}

// DecodeStartup is the inverse of EncodeStartup, for options without zero bytes.
func DecodeStartup(s string) map[string]string {
	options := make(map[string]string)
	parts := strings.Split(s, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		options[parts[i]] = parts[i+1]
	}
	return options
}
