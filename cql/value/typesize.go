// SPDX-License-Identifier: Apache-2.0

package value

// MaxParts is the largest number of parts of a type that a table can have. User-defined types can use
// each other so that a few short statements declare a type with more parts than a computer has bytes.
const MaxParts = 10_000

// CountParts returns the number of types in t, itself among them; a user-defined type counts wherever it
// is used. It stops counting above most.
func (t *Type) CountParts(most int) int {
	n := 1
	for _, e := range t.Elems {
		if n > most {
			break
		}
		n += e.CountParts(most - n)
	}
	return n
}

// Described returns about how many bytes the native protocol takes to describe t: user-defined types are
// described with the names of their fields, wherever they are used. It stops counting above most.
func (t *Type) Described(most int) int {
	n := 2 + len(t.Keyspace) + len(t.Name)
	for i, e := range t.Elems {
		if n > most {
			break
		}
		if t.Kind == UDT {
			n += 2 + len(t.Fields[i])
		}
		n += e.Described(most - n)
	}
	if t.Kind == Vector { // it is described by the class of Cassandra, with names in hexadecimal
		n = 2*n + 50*t.CountParts(most)
	}
	return n
}
