// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/evenkeel/evenkeel/shard"
)

// A place is a shard of a key. It is never used twice: if a key gets fewer shards, or its earlier
// number again, it gets places with higher numbers.

// Own holds the places of a partition key that has its own number of shards.
type Own struct {
	shard.Range
	Used int // the highest place that the key ever had
}

// These limit the keys of a table with places of their own, because an entry is one item.
const (
	MaxOwn      = 1000
	MaxOwnBytes = 256 << 10
)

// SetOwn gives a partition key, as attribute.KeyText writes it, its own places.
func (e *Entry) SetOwn(key string, o Own) error {
	own := maps.Clone(e.Own)
	if own == nil {
		own = make(map[string]Own)
	}
	own[key] = o
	e.Own = own
	return e.spreadKeys()
}

// spreadKeys puts the keys' own places into the layout.
func (e *Entry) spreadKeys() error {
	if len(e.Own) == 0 {
		return nil
	}
	spreads := make(map[string]shard.Spread, len(e.Own))
	for key, o := range e.Own {
		if e.HashType == "B" {
			raw, err := base64.RawURLEncoding.DecodeString(key)
			if err != nil {
				return fmt.Errorf("the catalogue's entry of %s: key %q: %w", e.Table, key, err)
			}
			key = string(raw)
		}
		spreads[key] = shard.Spread{Range: o.Range}
	}
	layout := *e.Layout
	layout.Keys = shard.NewKeys(0, spreads)
	e.Layout = &layout
	return nil
}

// places is the stored form of the places in an item of the catalogue.
type places struct {
	M struct {
		Base  num                         `json:"base"`
		Used  num                         `json:"used"`
		Plain bit                         `json:"plain"`
		Own   struct{ M map[string]text } `json:"own"`
	}
}

func (i *item) setPlaces(e *Entry) {
	if e.Layout == nil || e.Layout.Base == 0 && e.Layout.Used == 0 && !e.Plain && len(e.Own) == 0 {
		return
	}
	p := new(places)
	p.M.Base, p.M.Used, p.M.Plain = number(int64(e.Layout.Base)), number(int64(e.Layout.Used)), bit{e.Plain}
	p.M.Own.M = make(map[string]text, len(e.Own))
	for key, o := range e.Own {
		p.M.Own.M[key] = text{fmt.Sprintf("%d@%d/%d", o.N, o.Base, o.Used)}
	}
	i.Places = p
}

func (i *item) readPlaces(e *Entry) error {
	p := i.Places
	if p == nil || e.Layout == nil {
		return nil
	}
	if _, err := fmt.Sscan(p.M.Base.N, &e.Layout.Base); err != nil {
		return fmt.Errorf("the catalogue's entry of %s: base %q", e.Table, p.M.Base.N)
	}
	if _, err := fmt.Sscan(p.M.Used.N, &e.Layout.Used); err != nil {
		return fmt.Errorf("the catalogue's entry of %s: highest place %q", e.Table, p.M.Used.N)
	}
	if e.Plain = p.M.Plain.BOOL; e.Layout.Base == shard.PlainPlace-1 {
		generation := e.Layout.Generation
		e.Layout = shard.Plain()
		e.Layout.Generation = generation
	}
	for key, spread := range p.M.Own.M {
		var o Own
		if _, err := fmt.Sscanf(spread.S, "%d@%d/%d", &o.N, &o.Base, &o.Used); err != nil || o.N < 1 {
			return fmt.Errorf("the catalogue's entry of %s: key %q has the places %q", e.Table, key, spread.S)
		}
		if e.Own == nil {
			e.Own = make(map[string]Own, len(p.M.Own.M))
		}
		e.Own[key] = o
	}
	return e.spreadKeys()
}
