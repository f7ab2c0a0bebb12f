// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"

	"github.com/evenkeel/evenkeel/cql/value"
)

func addVectors(add func(*factory)) {
	for name, similarity := range map[string]func(a, b []float32) float32{
		"similarity_cosine": cosine, "similarity_euclidean": euclidean, "similarity_dot_product": dotProduct,
	} {
		add(&factory{name: name, params: []parameter{sameAs{1, false, vectorParam{}}, sameAs{0, false, vectorParam{}}},
			make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
				if types[0].Dim != types[1].Dim {
					return nil, invalid("All arguments must have the same vector dimensions")
				}
				return &Function{Name: name, Args: []*value.Type{types[0], types[0]}, Returns: value.Native(value.Float), Pure: true,
					call: func(_ *Env, args [][]byte) ([]byte, error) {
						a, b := vector(args[0]), vector(args[1])
						if a == nil || b == nil || len(a) != len(b) {
							return nil, nil
						}
						if name == "similarity_cosine" && (zero(a) || zero(b)) {
							return nil, invalid("Function system.%s doesn't support all-zero vectors.", name)
						}
						return encodeFloat(similarity(a, b)), nil
					}}, nil
			}})
	}
}

func vector(v []byte) []float32 {
	if len(v) == 0 || len(v)%4 != 0 {
		return nil
	}
	fs := make([]float32, len(v)/4)
	for i := range fs {
		x, _ := decode(value.Float, v[4*i:4*i+4])
		fs[i] = float32(x.f)
	}
	return fs
}

func zero(v []float32) bool {
	for _, f := range v {
		if f != 0 {
			return false
		}
	}
	return true
}

func dot(a, b []float32) float32 {
	var s float32
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func cosine(a, b []float32) float32 {
	return (1 + float32(float64(dot(a, b))/math.Sqrt(float64(dot(a, a))*float64(dot(b, b))))) / 2
}

func euclidean(a, b []float32) float32 {
	var s float32
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return 1 / (1 + s)
}

func dotProduct(a, b []float32) float32 { return (1 + dot(a, b)) / 2 }
