// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/hex"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// binder gives statements the client's values, and what functions such as now() take.
type binder struct {
	now            func() time.Time
	timeuuid, uuid func() [16]byte
}

// fill gives a statement the client's values and the time.
func (b *binder) fill(env *eval.Env, s *statement, values *wire.Values, scratch []eval.Value) error {
	*env = eval.Env{Values: scratch, Now: b.now().UnixMicro(), Timeuuid: b.timeuuid, UUID: b.uuid}
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
	if err := s.checkCount(len(env.Values)); err != nil {
		return err
	}
	s.once.Append(env)
	return nil
}

// checkCount refuses a number of values that differs from the number of markers.
func (s *statement) checkCount(n int) error {
	if n != len(s.head.Binds) {
		return wire.Invalidf("there were %d markers(?) in CQL but %d bound variables", len(s.head.Binds), n)
	}
	return nil
}

// named puts values that were sent by name in the order of the markers. Of several values of one name
// the first counts, as in Cassandra.
func named(env *eval.Env, s *statement, values *wire.Values) error {
	byName := map[string]eval.Value{}
	for it := values.Iter(); it.Next(); {
		if _, there := byName[string(it.Name)]; !there {
			byName[string(it.Name)] = eval.Value{Bytes: it.Bytes, Unset: it.Unset}
		}
	}
	for _, b := range s.head.Binds {
		v, ok := byName[b.Name]
		if !ok {
			return wire.Invalidf("Missing value for bind variable %s", b.Name)
		}
		env.Values = append(env.Values, v)
	}
	return eval.CheckNamed(env.Values)
}

// bodyOf returns a request's body without its custom payload, which is not passed on.
func bodyOf(m wire.Message) ([]byte, error) {
	_, body, err := wire.SplitPrefix(m.Op, m.Flags, m.Body)
	return body, err
}

// keyspaceOf returns the keyspace for a request's unqualified names: the one that the message names, or,
// if named is nil, the connection's.
func keyspaceOf(req *cqldoor.Request, named []byte) string {
	if named != nil {
		return string(named)
	}
	return req.Keyspace
}

// queryOf parses a QUERY whose body was retained.
func queryOf(req *cqldoor.Request) (wire.Query, error) {
	body, err := bodyOf(req.Message)
	if err != nil {
		return wire.Query{}, err
	}
	return wire.ParseQuery(req.Version, body)
}

// executeOf parses an EXECUTE whose body was retained.
func executeOf(req *cqldoor.Request) (wire.Execute, error) {
	body, err := bodyOf(req.Message)
	if err != nil {
		return wire.Execute{}, err
	}
	return wire.ParseExecute(req.Version, body)
}

// encodeValues encodes the values of a physical statement.
func encodeValues(values []eval.Value) wire.Values {
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

// showMetadata requests metadata for SELECT * in v4. There, a client cannot learn of a new column
// in another way (native_protocol_v4.spec §4.2.5.2).
func (s *statement) showMetadata(v wire.Version, p *wire.Params) {
	if v < wire.V5 && s.sel != nil && s.sel.Logical.Wildcard {
		p.SetSkipMetadata(false)
	}
}

// target returns where a passed-on statement goes. scratch is a buffer.
func (s *statement) target(env *eval.Env, scratch [][]byte) (target plan.Target, err error) {
	switch {
	case s.write != nil:
		return s.write.Target(env, scratch)
	case s.sel.Access == plan.One:
		return s.sel.Target(env, scratch)
	}
	return target, nil
}

// values returns the values of a passed-on statement.
func (s *statement) values(env *eval.Env) ([]eval.Value, error) {
	target, err := s.target(env, nil)
	if err != nil {
		return nil, err
	}
	return s.whole().Values(env, target), nil
}

func hexID(id []byte) string { return hex.EncodeToString(id) }
