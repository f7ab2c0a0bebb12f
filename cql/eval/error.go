// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// invalid returns Cassandra's InvalidRequestException.
func invalid(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

// failed returns Cassandra's FunctionExecutionException for a function.
func failed(f *Function, detail string) error {
	return failure(f, "execution of 'system."+f.Name+listed(f.Args)+"' failed: "+detail)
}

// threw returns the function failure that Cassandra makes of a Java exception.
func threw(f *Function, exception string) error { return failure(f, exception) }

// operationFailed returns Cassandra's OperationExecutionException.
func operationFailed(f *Function, symbol, detail string) error {
	return failure(f, fmt.Sprintf("the operation '%s %s %s' failed: %s", f.Args[0], symbol, f.Args[1], detail))
}

// arithmetic returns the error of a Java ArithmeticException that Cassandra does not catch.
func arithmetic(err error) error {
	return &wire.Error{Code: wire.CodeServer, Message: "java.lang.ArithmeticException: " + err.Error()}
}

// notNumber returns the error of a Java NumberFormatException that Cassandra does not catch.
func notNumber(err error) error {
	return &wire.Error{Code: wire.CodeServer, Message: "java.lang.NumberFormatException: " + err.Error()}
}

func failure(f *Function, msg string) error {
	e := &wire.Error{Code: wire.CodeFunctionFailure, Message: msg, Keyspace: "system", Function: f.Name}
	for _, a := range f.Args {
		e.Args = append(e.Args, a.String())
	}
	return e
}

func listed(types []*value.Type) string {
	s := "["
	for i, t := range types {
		if i > 0 {
			s += ", "
		}
		s += t.String()
	}
	return s + "]"
}
