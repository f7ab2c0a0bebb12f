// SPDX-License-Identifier: Apache-2.0

package livetable

import (
	"errors"
	"fmt"
	"strings"
)

// Error is an error of a store. At says where: an address, a host or a table. Hint is the way out;
// "": there is none.
type Error struct {
	At   string
	Err  error
	Hint string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.At, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the way out of an error that is or wraps an Error, or "".
func Hint(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// ErrDropped says that the table is gone, or that another table has its name.
var ErrDropped = errors.New("the table was dropped meanwhile")

// ErrLost says that the store no longer answers.
var ErrLost = errors.New("the store does not answer")

// Dropped returns ErrDropped for a table.
func Dropped(table string) error {
	return &Error{At: table, Err: ErrDropped, Hint: "look at it again when it is there; what was counted so far is of no use for another table"}
}

// Brief returns the end of a chain of errors, at most that many bytes, on one line.
func Brief(text string, most int) string {
	text = strings.ReplaceAll(text, "\n", "; ")
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return text
}
