// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// natives holds the overloads of Cassandra's native functions by name.
var natives = func() map[string][]*Function {
	m := map[string][]*Function{}
	add := func(f *Function) { m[f.Name] = append(m[f.Name], f) }
	addOperators(add)
	addAggregates(add)
	addCasts(add)
	addTimes(add)
	addBlobs(add)
	addMath(add)
	return m
}()

// factory makes the overload that fits the types of the arguments.
type factory struct {
	name     string
	params   []parameter
	optional int // number of trailing parameters that a call may leave out
	make     func(f *factory, types []*value.Type, receiver *value.Type) (*Function, error)
}

var factories = func() map[string]*factory {
	m := map[string]*factory{}
	add := func(f *factory) { m[f.name] = f }
	addExtremes(add)
	addCollections(add)
	addVectors(add)
	addMasks(add)
	addJSON(add)
	return m
}()

// token returns the token function for a table's partition key.
func token(t *schema.Table) *Function {
	f := &Function{Name: "token", Returns: value.Native(value.Bigint), Pure: true}
	for _, c := range t.PartitionKey {
		f.Args = append(f.Args, c.Type)
	}
	f.call = func(env *Env, args [][]byte) ([]byte, error) {
		for _, a := range args {
			if a == nil {
				return nil, nil
			}
		}
		return env.token(args), nil
	}
	return f
}

func addExtremes(add func(*factory)) {
	for name, sign := range map[string]int{"min": 1, "max": -1} {
		add(&factory{name: name, params: []parameter{anyType{fromReceiver: true}},
			make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
				t := types[0]
				return &Function{Name: f.name, Args: types, Returns: t, Pure: true, Aggregate: true,
					start: func() accumulator { return &extreme{t: t, sign: sign} }}, nil
			}})
	}
}
