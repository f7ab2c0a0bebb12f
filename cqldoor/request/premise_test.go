// SPDX-License-Identifier: Apache-2.0

package request

import (
	"math"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/fleet"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// TestLayoutComesAgain lets a table with buckets of time get another layout, and then the first one again, in another
// physical table, while a write is under way. The write does not stand.
func TestLayoutComesAgain(t *testing.T) {
	of := func(name string, kind schema.ColumnKind, typ value.Kind) *schema.Column {
		return &schema.Column{Name: name, Type: value.Native(typ), Kind: kind}
	}
	p, c, v := of("p", schema.PartitionKey, value.Int), of("c", schema.Clustering, value.Timestamp), of("v", schema.Regular, value.Int)
	logical := &schema.Table{Keyspace: "ks", Name: "t", ID: [16]byte{7}, PartitionKey: []*schema.Column{p}, Clustering: []*schema.Column{c},
		Regulars: []*schema.Column{v}, Columns: map[string]*schema.Column{"p": p, "c": c, "v": v}}
	at := func(physical byte, generation int64) *plan.Table {
		table, err := plan.NewKept(logical, plan.Kept{Layout: &shard.Layout{Strategy: shard.Time, N: 1, By: []string{"c"}, Column: "shard", Width: timebucket.Minute, Generation: generation},
			Physical: "t", ID: [16]byte{physical}})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, physical := range []byte{8, 9} {
		st := tables.NewState()
		st.Tables["ks"] = map[string]*plan.Table{"t": at(physical, 5)}
		states := tables.NewStates()
		states.Replace(st)
		premises := &Premises{State: states, Doors: &tables.Membership{Lease: registry.NewLease(0, time.Now), Member: new(fleet.Member)}}
		s := &Statement{Write: &plan.Write{Table: at(8, 2)}, Under: new(tables.UnderWay), Premises: premises}
		if got, err := premises.Stands(t.Context(), s, math.MinInt64); err != nil || got != (physical == 8) {
			t.Errorf("in physical table %d the write stands: %v, %v", physical, got, err)
		}
	}
}

// TestWritesWhileRolloverComes adds a shard of a key to the layout that a table gets, while a write is under way.
// A deletion that the shard needs must be sent again. Other writes stand, also if the change ends meanwhile.
func TestWritesWhileRolloverComes(t *testing.T) {
	of := func(name string, kind schema.ColumnKind, at int) *schema.Column {
		return &schema.Column{Name: name, Type: value.Native(value.Int), Kind: kind, Position: at}
	}
	p, c, v := of("p", schema.PartitionKey, 0), of("c", schema.Clustering, 0), of("v", schema.Regular, 0)
	logical := &schema.Table{Keyspace: "ks", Name: "t", ID: [16]byte{7}, PartitionKey: []*schema.Column{p}, Clustering: []*schema.Column{c},
		Regulars: []*schema.Column{v}, Columns: map[string]*schema.Column{"p": p, "c": c, "v": v}}
	to := func(openings ...int64) plan.Kept {
		rolling := (*shard.Rolled)(nil).Next()
		for i, from := range openings {
			rolling.Announce([]byte{3: 1}, i+2, from)
		}
		return plan.Kept{Layout: &shard.Layout{Strategy: shard.Rollover, N: 1, Column: "shard", Fill: shard.Fill{Rows: 10}, Max: 9, Rolled: rolling.Done()}, Physical: "t_2", ID: [16]byte{8}}
	}
	changing := func(next plan.Kept) *plan.Table {
		table, err := plan.NewChanging(logical, plan.Kept{Layout: shard.Plain(), ID: logical.ID}, next, reshard.Change{Step: reshard.Announced})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	ended, err := plan.NewKept(logical, to(shard.Always, 100))
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		planned, now *plan.Table
		reached      int64
		stands       bool
	}{
		"an insert":                          {changing(to()), changing(to(shard.Always)), math.MinInt64, true},
		"an old deletion, and a first shard": {changing(to()), changing(to(shard.Always)), 50, false},
		"a deletion before the opening":      {changing(to(shard.Always)), changing(to(shard.Always, 100)), 99, true},
		"a deletion after the opening":       {changing(to(shard.Always)), changing(to(shard.Always, 100)), 100, false},
		"a deletion, and the change ends":    {changing(to(shard.Always)), ended, 100, false},
		"an insert, and the change ends":     {changing(to(shard.Always)), ended, math.MinInt64, true},
		"a deletion that knows the shard":    {changing(to(shard.Always, 100)), ended, 100, true},
	} {
		st := tables.NewState()
		st.Tables["ks"] = map[string]*plan.Table{"t": x.now}
		states := tables.NewStates()
		states.Replace(st)
		premises := &Premises{State: states, Doors: &tables.Membership{Lease: registry.NewLease(0, time.Now)}}
		s := &Statement{Write: &plan.Write{Table: x.planned}, Under: new(tables.UnderWay), Premises: premises}
		if got, err := premises.Stands(t.Context(), s, x.reached); err != nil || got != x.stands {
			t.Errorf("%s stands: %v, %v; it should be %v", name, got, err, x.stands)
		}
	}
}
