// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"regexp"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// WithoutName returns a backend error without the name of the hidden column.
func WithoutName(err error, hidden string) error {
	var e *wire.Error
	if hidden == "" || !errors.As(err, &e) {
		return err
	}
	n := *e
	n.Message = HideName(e.Message, hidden)
	return &n
}

// HideName replaces the hidden column's name in a text of the backend.
func HideName(text, hidden string) string {
	if hidden == "" {
		return text
	}
	word := regexp.MustCompile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(hidden) + `($|[^\pL\pN_])`)
	return word.ReplaceAllString(text, "${1}write_sharding${2}")
}
