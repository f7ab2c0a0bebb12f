// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// invalid returns Cassandra's InvalidRequestException.
func invalid(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

// inner gives an error of package value Cassandra's code. It returns a *wire.Error unchanged.
func inner(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*wire.Error); ok {
		return e
	}
	return invalid("%s", err)
}
