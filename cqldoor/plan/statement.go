// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// SlotKind says where the value of a physical statement's marker comes from.
type SlotKind uint8

// These are the kinds of slots.
const (
	Client    SlotKind = iota // the client's value number Index
	Key                       // component Index of the logical partition key
	By                        // value Index of the `by` columns
	Shard                     // the shard, an int
	ShardList                 // the shards of a fetch, a list<int>
	Cluster                   // component Index of the bounds of a slice, see slice.go
	Limit                     // number of rows wanted of each shard, an int
	Token                     // end Index of a range of tokens
	Set                       // value Index of those that the door computes
)

var slotNames = [...]string{"client", "key", "by", "shard", "shards", "cluster", "limit", "token", "set"}

// Slot is one marker of a physical statement.
type Slot struct {
	Kind  SlotKind
	Index int
}

// Statement is a physical statement: its text, and the meaning of its markers.
type Statement struct {
	Text  string
	Slots []Slot

	columns []int         // clustering columns of the Cluster slots
	in      int           // the last Cluster slot is a list of values of so many columns; 0: it is no list
	sets    []*value.Type // types of the Set slots, if they are known
}

// marker returns an expression for a slot. print later gives the slot its place.
func marker(k SlotKind, index int) syntax.Expr {
	return &syntax.Bind{Name: "evenkeel_" + slotNames[k] + "_" + strconv.Itoa(index)}
}

// newStatement prints a statement whose markers are slots, and finds their order.
func newStatement(s syntax.Statement) (*Statement, error) {
	text := syntax.Print(s)
	st := &Statement{}
	var out strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			// A quote inside a quoted text is doubled. The text after it is scanned as another
			// quoted part.
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return nil, fmt.Errorf("plan: unbalanced quotes in %q", text)
			}
			out.WriteString(text[i : i+end+2])
			i += end + 2
		case strings.HasPrefix(text[i:], ":evenkeel_"):
			end := i + 1
			for end < len(text) && (text[end] == '_' || text[end] >= 'a' && text[end] <= 'z' || text[end] >= '0' && text[end] <= '9') {
				end++
			}
			parts := strings.Split(text[i+1:end], "_")
			kind := -1
			for k, name := range slotNames {
				if name == parts[1] {
					kind = k
				}
			}
			index, err := strconv.Atoi(parts[2])
			if kind < 0 || err != nil {
				return nil, fmt.Errorf("plan: unknown marker in %q", text)
			}
			st.Slots = append(st.Slots, Slot{SlotKind(kind), index})
			out.WriteByte('?')
			i = end
		default:
			out.WriteByte(c)
			i++
		}
	}
	st.Text = out.String()
	return st, nil
}

// Insertion returns the index at which the shard's value is inserted between the client's values,
// if the shard is the only value of the door's and the client's values keep their order.
// Otherwise it returns -1.
func (s *Statement) Insertion(clientValues int) int {
	at, next := -1, 0
	for i, slot := range s.Slots {
		switch {
		case slot.Kind == Shard && at < 0:
			at = i
		case slot.Kind == Client && slot.Index == next:
			next++
		default:
			return -1
		}
	}
	if next != clientValues {
		return -1
	}
	return at
}

// Values returns the values of the statement's markers for one shard.
func (s *Statement) Values(env *eval.Env, target Target) []eval.Value {
	out := make([]eval.Value, len(s.Slots))
	for i, slot := range s.Slots {
		v := &out[i]
		switch slot.Kind {
		case Client:
			*v = env.Values[slot.Index]
		case Key:
			v.Bytes = target.Key[slot.Index]
		case By:
			v.Bytes = target.By[slot.Index]
		case Shard:
			v.Bytes = IntValue(target.Shard)
		case Cluster:
			v.Bytes = target.Cluster[slot.Index]
		case Set:
			*v = target.Set[slot.Index]
		}
	}
	return out
}

// IntValue serializes an int.
func IntValue(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(n))) }

// ListValue serializes a list<int>.
func ListValue(ns []int) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+8*len(ns)), uint32(len(ns)))
	for _, n := range ns {
		b = binary.BigEndian.AppendUint32(b, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(int32(n)))
	}
	return b
}
