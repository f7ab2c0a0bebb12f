// SPDX-License-Identifier: Apache-2.0

package request

import (
	"encoding/hex"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// Binder gives statements the client's values, and what functions such as now() take.
type Binder struct {
	Now            func() time.Time
	Timeuuid, UUID func() [16]byte
}

// Fill gives a statement the client's values and the time.
func (b *Binder) Fill(env *eval.Env, s *Statement, values *wire.Values, scratch []eval.Value) error {
	*env = eval.Env{Values: scratch, Now: b.Now().UnixMicro(), Timeuuid: b.Timeuuid, UUID: b.UUID}
	if values.Named {
		if err := named(env, s, values); err != nil {
			return err
		}
		s.once.Append(env)
		return nil
	}
	for it := values.Iter(); it.Next(); {
		env.Values = append(env.Values, eval.Value{Bytes: it.Bytes, Unset: it.Unset})
	}
	if err := s.CheckCount(len(env.Values)); err != nil {
		return err
	}
	s.once.Append(env)
	return nil
}

// CheckCount refuses a number of values that differs from the number of markers.
func (s *Statement) CheckCount(n int) error {
	if n != len(s.Head.Binds) {
		return wire.Invalidf("there were %d markers(?) in CQL but %d bound variables", len(s.Head.Binds), n)
	}
	return nil
}

// named puts values that were sent by name in the order of the markers. Of several values of one name
// the first counts, as in Cassandra.
func named(env *eval.Env, s *Statement, values *wire.Values) error {
	byName := map[string]eval.Value{}
	for it := values.Iter(); it.Next(); {
		if _, there := byName[string(it.Name)]; !there {
			byName[string(it.Name)] = eval.Value{Bytes: it.Bytes, Unset: it.Unset}
		}
	}
	for _, b := range s.Head.Binds {
		v, ok := byName[b.Name]
		if !ok {
			return wire.Invalidf("Missing value for bind variable %s", b.Name)
		}
		env.Values = append(env.Values, v)
	}
	return eval.CheckNamed(env.Values)
}

// BodyOf returns a request's body without its custom payload, which is not passed on.
func BodyOf(m wire.Message) ([]byte, error) {
	_, body, err := wire.SplitPrefix(m.Op, m.Flags, m.Body)
	return body, err
}

// KeyspaceOf returns the keyspace for a request's unqualified names: the one that the message names, or,
// if named is nil, the connection's.
func KeyspaceOf(req *cqldoor.Request, named []byte) string {
	if named != nil {
		return string(named)
	}
	return req.Keyspace
}

// QueryOf parses a QUERY whose body was retained.
func QueryOf(req *cqldoor.Request) (wire.Query, error) {
	body, err := BodyOf(req.Message)
	if err != nil {
		return wire.Query{}, err
	}
	return wire.ParseQuery(req.Version, body)
}

// ExecuteOf parses an EXECUTE whose body was retained.
func ExecuteOf(req *cqldoor.Request) (wire.Execute, error) {
	body, err := BodyOf(req.Message)
	if err != nil {
		return wire.Execute{}, err
	}
	return wire.ParseExecute(req.Version, body)
}

// EncodeValues encodes the values of a physical statement.
func EncodeValues(values []eval.Value) wire.Values {
	size := 0
	for _, v := range values {
		size += 4 + len(v.Bytes)
	}
	out := wire.Values{Count: len(values), Raw: make([]byte, 0, size)}
	for _, v := range values {
		if v.Unset {
			out.Raw = wire.AppendUnset(out.Raw)
		} else {
			out.Raw = wire.AppendBytes(out.Raw, v.Bytes)
		}
	}
	return out
}

// ShowMetadata requests metadata for SELECT * in v4. There, a client cannot learn of a new column
// in another way (native_protocol_v4.spec §4.2.5.2).
func (s *Statement) ShowMetadata(v wire.Version, p *wire.Params) {
	if v < wire.V5 && s.Sel != nil && s.Sel.Logical.Wildcard {
		p.SetSkipMetadata(false)
	}
}

// Target returns where a passed-on statement goes. scratch is a buffer.
func (s *Statement) Target(env *eval.Env, scratch [][]byte) (target plan.Target, err error) {
	switch {
	case s.Write != nil:
		return s.Write.Target(env, scratch)
	case s.Sel.Access == plan.One:
		return s.Sel.Target(env, scratch)
	}
	return target, nil
}

// Values returns the values of a passed-on statement.
func (s *Statement) Values(env *eval.Env) ([]eval.Value, error) {
	target, err := s.Target(env, nil)
	if err != nil {
		return nil, err
	}
	return s.Whole().Values(env, target), nil
}

func hexID(id []byte) string { return hex.EncodeToString(id) }

// BytesOf returns the bytes of values.
func BytesOf(values []eval.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v.Bytes
	}
	return out
}
