// SPDX-License-Identifier: Apache-2.0

package capacity

// Hidden says how the column or attribute that sharding adds changes an item's units. If ItemBytes
// is what the store bills, it already includes the addition. For a size without the addition,
// Hidden shows what changes.
type Hidden struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"` // added to each item; without the key, if KeyRepeated and its length is unknown

	KeyRepeated bool `json:"key_repeated"` // the key is stored a second time
	KeyKnown    bool `json:"key_known"`

	// Lifts says that an item of ItemBytes without the attribute takes more write units with it:
	// always, or if the key has more than KeyBytesFit bytes.
	Lifts       bool `json:"lifts"`
	KeyBytesFit int  `json:"key_bytes_fit"` // if the key's length is unknown: the longest key that lifts no item; -1: none

	// TooLarge says that an item of ItemBytes without the attribute exceeds the store's limit with
	// it, whatever the key is.
	TooLarge bool `json:"too_large"`

	With *WithHidden `json:"with,omitempty"` // the plan of the lifted item, if Lifts
}

// WithHidden is the plan of an item that is lifted into the next unit.
type WithHidden struct {
	ItemBytes   int `json:"item_bytes"`
	WriteUnits  int `json:"write_units"`
	Minimum     int `json:"minimum"`
	Recommended int `json:"recommended"` // 0: no number of shards is enough
}

// mayLift is the length of a key up to which a warning is useful that longer keys lift an item:
// most keys are shorter.
const mayLift = 64

func (d demand) hidden(r Request, n int) Hidden {
	fixed, repeats := r.Store.hidden(n)
	h := Hidden{Name: r.Store.HiddenName(), Bytes: fixed, KeyRepeated: repeats, KeyKnown: r.KeyBytes > 0, KeyBytesFit: -1}
	slack := d.writeUnits*writeUnitBytes - r.ItemBytes
	bytes := r.ItemBytes + fixed
	switch {
	case !repeats:
		h.Lifts = fixed > slack
	case h.KeyKnown:
		h.Bytes += r.KeyBytes
		bytes += r.KeyBytes
		h.Lifts = h.Bytes > slack
	default:
		if fit := slack - fixed; fit >= 1 {
			h.KeyBytesFit = fit
		}
		h.Lifts = h.KeyBytesFit < mayLift
		bytes += max(h.KeyBytesFit, 0) + 1 // the shortest key that lifts it
	}
	h.TooLarge = r.ItemBytes+h.Bytes > stores[r.Store].maxItem
	if h.Lifts {
		lifted := r.demand(bytes)
		h.With = &WithHidden{ItemBytes: bytes, WriteUnits: lifted.writeUnits}
		if minimum, recommended, err := lifted.shards(); err == nil && lifted.writeUnits <= PartitionWriteUnits {
			h.With.Minimum, h.With.Recommended = minimum, recommended
		} else {
			h.With.Minimum = int(lifted.minimumWrites())
		}
	}
	return h
}
