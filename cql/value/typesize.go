// SPDX-License-Identifier: Apache-2.0

package value

// MaxParts is the largest number of parts that a type of a table may have. Without a limit, a few short
// statements could declare a type with more parts than a computer has bytes: each statement declares a
// user-defined type that uses the previous one twice.
const MaxParts = 10_000

// CountParts returns the number of parts of t: t itself, and the parts of the types in it. A user-defined
// type counts each time that it is used. CountParts stops when the number is above most.
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

// Described returns about how many bytes the native protocol takes to describe t. The description of a
// user-defined type has the names of its fields, each time that the type is used. Described stops when the
// number is above most.
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
