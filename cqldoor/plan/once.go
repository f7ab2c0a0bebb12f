// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Calls are the function calls of a statement whose values the door computes once for each
// execution.
type Calls []call

// Once replaces the calls whose result changes each time, such as now(), by markers after the
// client's own markers. So a write to two places writes the same value to both. markers is the
// number of the client's markers.
func Once[S syntax.Statement](s S, markers int) (S, Calls) {
	var calls Calls
	out := replace(reflect.ValueOf(s), func(e any) (syntax.Expr, bool) {
		c, ok := e.(*syntax.Call)
		if !ok {
			return nil, false
		}
		f := chance(c)
		if f == nil {
			return nil, false
		}
		calls = append(calls, f.value)
		bind := &syntax.Bind{Index: markers + len(calls) - 1}
		return &syntax.Hint{Type: syntax.TypeRef{Name: syntax.Name{Name: value.Native(f.kind).String()}}, Expr: bind}, true
	}).Interface().(S)
	return out, calls
}

// Append computes the calls and appends their values to the client's values.
func (c Calls) Append(env *eval.Env) {
	for _, f := range c {
		env.Values = append(env.Values, eval.Value{Bytes: f(env)})
	}
}
