// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
)

// TestRefuseAdoption holds what the definition of a table has against its adoption.
func TestRefuseAdoption(t *testing.T) {
	text := value.Native(value.Text)
	table := func(change func(*schema.Table)) *schema.Table {
		d := &schema.Column{Name: "d", Type: text, Kind: schema.PartitionKey}
		s := &schema.Column{Name: "shard", Type: value.Native(value.Int), Kind: schema.PartitionKey, Position: 1}
		c := &schema.Column{Name: "title", Type: text, Kind: schema.Clustering}
		out := &schema.Table{Keyspace: "k", Name: "t", PartitionKey: []*schema.Column{d, s}, Clustering: []*schema.Column{c},
			Columns: map[string]*schema.Column{"d": d, "shard": s, "title": c}}
		change(out)
		return out
	}
	calculated, random := &shard.Layout{N: 2, Column: "shard"}, &shard.Layout{N: 2, Column: "shard", Strategy: shard.Random}
	set := &schema.Column{Name: "tags", Type: value.SetOf(text, false), Kind: schema.Regular}
	frozen := &schema.Column{Name: "tags", Type: value.SetOf(text, true), Kind: schema.Regular}
	for name, c := range map[string]struct {
		t     *schema.Table
		l     *shard.Layout
		words string
	}{
		"plain":          {table(func(*schema.Table) {}), calculated, ""},
		"index":          {table(func(t *schema.Table) { t.Indexes = []schema.Index{{Name: "by_v"}} }), calculated, "it has the index by_v"},
		"view":           {table(func(t *schema.Table) { t.View = &schema.View{Base: "other"} }), calculated, "it is a materialized view"},
		"base of a view": {table(func(t *schema.Table) { t.Name = "base" }), calculated, "the materialized view of_base shows its column shard"},
		"statics":        {table(func(t *schema.Table) { t.Statics = []*schema.Column{{Name: "s", Type: text}} }), random, "it has static columns"},
		"set":            {table(func(t *schema.Table) { t.Regulars = []*schema.Column{set} }), random, "columns tags are collections"},
		"placed set":     {table(func(t *schema.Table) { t.Regulars = []*schema.Column{set} }), calculated, ""},
		"frozen set":     {table(func(t *schema.Table) { t.Regulars = []*schema.Column{frozen} }), random, ""},
	} {
		view := table(func(t *schema.Table) { t.Name, t.View = "of_base", &schema.View{Base: "base"} })
		ks := &schema.Keyspace{Name: "k", Tables: map[string]*schema.Table{"of_base": view, c.t.Name: c.t}}
		why := strings.Join(RefuseAdoption(ks, c.t, c.l), "; ")
		if c.words == "" && why != "" || !strings.Contains(why, c.words) {
			t.Errorf("%s: refused with %q, want %q", name, why, c.words)
		}
	}
}
