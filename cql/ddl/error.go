// SPDX-License-Identifier: Apache-2.0

package ddl

import "github.com/evenkeel/evenkeel/cql/wire"

var errNoKeyspace = wire.Errorf(wire.CodeInvalid,
	"No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")

func invalid(format string, args ...any) error { return wire.Invalidf(format, args...) }
func syntaxError(format string, args ...any) error {
	return wire.Errorf(wire.CodeSyntax, format, args...)
}
func configError(format string, args ...any) error {
	return wire.Errorf(wire.CodeConfig, format, args...)
}
func unauthorized(format string, args ...any) error {
	return wire.Errorf(wire.CodeUnauthorized, format, args...)
}

func keyspaceExists(name string) error {
	e := wire.Errorf(wire.CodeAlreadyExists, "Cannot add existing keyspace \"%s\"", name)
	e.Keyspace = name
	return e
}

func tableExists(keyspace, name string) error {
	e := wire.Errorf(wire.CodeAlreadyExists, "Cannot add already existing table \"%s\" to keyspace \"%s\"", name, keyspace)
	e.Keyspace, e.Table = keyspace, name
	return e
}

func noKeyspace(name string) error { return invalid("Keyspace '%s' doesn't exist", name) }
