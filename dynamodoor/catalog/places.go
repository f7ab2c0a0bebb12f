// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/evenkeel/evenkeel/shard"
)

// A place, a shard of a key, is never used twice: a key gets fewer shards, and back what
// it had, at places with higher numbers.

// Own is the places of a partition key that has a number of shards of its own.
type Own struct {
	shard.Range
	Used int // the highest place that the key ever had
}

// Limits of what keys of a table may have of their own: an entry is one item.
const (
	MaxOwn      = 1000
	MaxOwnBytes = 256 << 10
)

// SetOwn gives a partition key, as attribute.KeyText writes it, places of its own.
func (e *Entry) SetOwn(key string, o Own) error {
	own := maps.Clone(e.Own)
	if own == nil {
		own = make(map[string]Own)
	}
	own[key] = o
	e.Own = own
	return e.spreadKeys()
}

// spreadKeys has the layout know the keys' own places.
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

// places is what an item of the catalogue has of them.
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
	e.Plain = p.M.Plain.BOOL
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
