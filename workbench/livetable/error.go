// SPDX-License-Identifier: Apache-2.0

package livetable

import (
	"errors"
	"fmt"
	"strings"
)

// Error is what a store refused or could not do. At says where: an address, a host
// or a table. Hint is the way out, "" where there is none.
type Error struct {
	At   string
	Err  error
	Hint string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.At, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Hint is the way out of an error that is or wraps an Error, "" where there is none.
func Hint(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// ErrDropped says that the table is gone, or another of its name has come.
var ErrDropped = errors.New("the table was dropped meanwhile")

// ErrLost says that the store does not answer any more.
var ErrLost = errors.New("the store does not answer")

// Dropped is ErrDropped of a table.
func Dropped(table string) error {
	return &Error{At: table, Err: ErrDropped, Hint: "look at it again when it is there; what was counted so far is of no use for another table"}
}

// Brief is the end of a chain of errors, at most so many bytes, on one line.
func Brief(text string, most int) string {
	text = strings.ReplaceAll(text, "\n", "; ")
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return text
}
