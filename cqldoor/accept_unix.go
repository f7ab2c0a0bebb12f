// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cqldoor

import (
	"errors"
	"syscall"
)

// isTooManyFiles reports whether accept failed because the process has no file descriptors left.
// That passes with time.
func isTooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}
