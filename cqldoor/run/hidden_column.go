// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"regexp"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// withoutName returns a backend error without the name of the hidden column.
func withoutName(err error, hidden string) error {
	var e *wire.Error
	if hidden == "" || !errors.As(err, &e) {
		return err
	}
	n := *e
	n.Message = hideName(e.Message, hidden)
	return &n
}

// hideName replaces the hidden column's name in a text of the backend.
func hideName(text, hidden string) string {
	if hidden == "" {
		return text
	}
	word := regexp.MustCompile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(hidden) + `($|[^\pL\pN_])`)
	return word.ReplaceAllString(text, "${1}write_sharding${2}")
}
