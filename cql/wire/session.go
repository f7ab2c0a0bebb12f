// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"net/netip"
)

// The messages around a session: STARTUP, SUPPORTED, the authentication
// exchange, REGISTER and EVENT. OPTIONS and READY have no body.

// The options of STARTUP (native_protocol_v5.spec §4.1.1) that servers use.
const (
	OptionCQLVersion         = "CQL_VERSION"
	OptionCompression        = "COMPRESSION"
	OptionThrowOnOverload    = "THROW_ON_OVERLOAD"
	OptionDriverName         = "DRIVER_NAME"
	OptionDriverVersion      = "DRIVER_VERSION"
	OptionNoCompact          = "NO_COMPACT"
	OptionProtocolVersions   = "PROTOCOL_VERSIONS"   // SUPPORTED only
	OptionProductType        = "PRODUCT_TYPE"        // SUPPORTED only
	OptionApplicationName    = "APPLICATION_NAME"    // informational
	OptionApplicationVersion = "APPLICATION_VERSION" // informational
	OptionClientID           = "CLIENT_ID"           // informational
)

// ParseStartup parses the body of a STARTUP: its options.
func ParseStartup(body []byte) (map[string]string, error) {
	c := NewCursor(body)
	m := c.StringMap()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("parse STARTUP: %w", err)
	}
	return m, nil
}

// AppendStartup appends the body of a STARTUP.
func AppendStartup(dst []byte, options map[string]string) []byte {
	return AppendStringMap(dst, options)
}

// ParseSupported parses the body of a SUPPORTED.
func ParseSupported(body []byte) (map[string][]string, error) {
	c := NewCursor(body)
	m := c.StringMultimap()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("parse SUPPORTED: %w", err)
	}
	return m, nil
}

// AppendSupported appends the body of a SUPPORTED.
func AppendSupported(dst []byte, options map[string][]string) []byte {
	return AppendStringMultimap(dst, options)
}

// ParseAuthenticate parses the body of an AUTHENTICATE: the authenticator's class.
func ParseAuthenticate(body []byte) (class string, err error) {
	c := NewCursor(body)
	class = string(c.Str())
	if err := c.Err(); err != nil {
		return "", fmt.Errorf("parse AUTHENTICATE: %w", err)
	}
	return class, nil
}

// AppendAuthenticate appends the body of an AUTHENTICATE.
func AppendAuthenticate(dst []byte, class string) []byte { return AppendString(dst, class) }

// ParseAuthResponse parses the token of an AUTH_RESPONSE, AUTH_CHALLENGE or AUTH_SUCCESS. The token
// is a view; nil is null.
func ParseAuthResponse(body []byte) (token []byte, err error) {
	c := NewCursor(body)
	token = c.Bytes()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("parse authentication token: %w", err)
	}
	return token, nil
}

// AppendAuthResponse appends the body of an AUTH_RESPONSE, AUTH_CHALLENGE or
// AUTH_SUCCESS.
func AppendAuthResponse(dst, token []byte) []byte { return AppendBytes(dst, token) }

// The types of events.
const (
	EventTopology = "TOPOLOGY_CHANGE"
	EventStatus   = "STATUS_CHANGE"
	EventSchema   = "SCHEMA_CHANGE"
)

// ParseRegister parses the body of a REGISTER: event types. An unknown type is an error.
func ParseRegister(body []byte) ([]string, error) {
	c := NewCursor(body)
	types := c.StringList()
	for _, t := range types {
		if t != EventTopology && t != EventStatus && t != EventSchema {
			c.Fail(Errorf(CodeProtocol, "Invalid value '%s' for Type", t))
		}
	}
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("parse REGISTER: %w", err)
	}
	return types, nil
}

// AppendRegister appends the body of a REGISTER.
func AppendRegister(dst []byte, types []string) []byte { return AppendStringList(dst, types) }

// The changes that events report.
const (
	ChangeNewNode     = "NEW_NODE"     // topology
	ChangeRemovedNode = "REMOVED_NODE" // topology
	ChangeMovedNode   = "MOVED_NODE"   // topology
	ChangeUp          = "UP"           // status
	ChangeDown        = "DOWN"         // status
	ChangeCreated     = "CREATED"      // schema
	ChangeUpdated     = "UPDATED"      // schema
	ChangeDropped     = "DROPPED"      // schema
)

// Event is the body of an EVENT.
type Event struct {
	Type   string
	Change string         // topology and status
	Addr   netip.AddrPort // topology and status
	Schema SchemaChange   // schema
}

// The targets of a schema change.
const (
	TargetKeyspace  = "KEYSPACE"
	TargetTable     = "TABLE"
	TargetType      = "TYPE"
	TargetFunction  = "FUNCTION"
	TargetAggregate = "AGGREGATE"
)

// SchemaChange is a change of the schema, in an EVENT or a RESULT.
type SchemaChange struct {
	Change   string
	Target   string
	Keyspace string
	Name     string   // of the table, type, function or aggregate
	Args     []string // functions and aggregates: CQL types
}

// ParseEvent parses the body of an EVENT.
func ParseEvent(body []byte) (Event, error) {
	c := NewCursor(body)
	e := Event{Type: string(c.Str())}
	switch e.Type {
	case EventTopology, EventStatus:
		e.Change = string(c.Str())
		e.Addr = c.Inet()
	case EventSchema:
		e.Schema.parse(&c)
	default:
		c.Fail(Errorf(CodeProtocol, "Invalid value '%s' for Type", e.Type))
	}
	if err := c.Err(); err != nil {
		return Event{}, fmt.Errorf("parse EVENT: %w", err)
	}
	return e, nil
}

// AppendEvent appends the body of an EVENT.
func AppendEvent(dst []byte, e *Event) []byte {
	dst = AppendString(dst, e.Type)
	if e.Type == EventSchema {
		return e.Schema.append(dst)
	}
	return AppendInet(AppendString(dst, e.Change), e.Addr)
}

func (s *SchemaChange) parse(c *Cursor) {
	s.Change = string(c.Str())
	s.Target = string(c.Str())
	s.Keyspace = string(c.Str())
	switch s.Target {
	case TargetKeyspace:
	case TargetTable, TargetType:
		s.Name = string(c.Str())
	case TargetFunction, TargetAggregate:
		s.Name = string(c.Str())
		s.Args = c.StringList()
	default:
		c.Fail(Errorf(CodeProtocol, "unknown target %q of a schema change", s.Target))
	}
}

func (s *SchemaChange) append(dst []byte) []byte {
	dst = AppendString(dst, s.Change)
	dst = AppendString(dst, s.Target)
	dst = AppendString(dst, s.Keyspace)
	switch s.Target {
	case TargetTable, TargetType:
		dst = AppendString(dst, s.Name)
	case TargetFunction, TargetAggregate:
		dst = AppendStringList(AppendString(dst, s.Name), s.Args)
	}
	return dst
}
