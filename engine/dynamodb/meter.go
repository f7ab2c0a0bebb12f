// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// With Options.Capacity, tables and global indexes have DynamoDB's limits. Each has a model
// (engine/throughput). The model admits a request before the engine reads anything. Afterwards the
// engine reports to it what the request took. If an index is too hot, the engine refuses a write
// before it writes to the base table, with the index's reason. Without the option the models are
// nil, and nothing else is checked.

// meter applies the limits of tables and indexes to requests, and records their cost.
type meter struct {
	limits      *throughput.Limits // nil: no limits
	clock       func() time.Time
	space       *storage.Space
	collections collections
}

// limit gives a shape its models. It takes them from the table's previous shape, if there is one.
func (m *meter) limit(sh, old *shape) {
	if m.limits == nil {
		return
	}
	t := sh.Table
	settings := throughput.Settings{OnDemand: t.Billing == schema.PayPerRequest, Whole: len(t.Local) > 0}
	model := func(was *throughput.Model, provisioned, onDemand, warm schema.Throughput) *throughput.Model {
		now := settings
		now.Provisioned, now.Maximum, now.Warm = rate(provisioned), rate(onDemand), rate(warm)
		if was == nil {
			return throughput.New(*m.limits, now, m.clock())
		}
		if was.Settings() != now {
			was.Configure(now, m.clock())
		}
		return was
	}
	var was *throughput.Model
	if old != nil {
		was = old.model
	}
	sh.model = model(was, t.Provisioned, t.OnDemand, t.Warm)
	settings.Whole = false // a global index is split anywhere
	for i := range sh.indexes {
		ix := &sh.indexes[i]
		if ix.local {
			continue
		}
		was = nil
		if old != nil {
			if o := old.index(ix.Name); o != nil && o.id == ix.id {
				was = o.model
			}
		}
		ix.model = model(was, ix.Provisioned, ix.OnDemand, ix.Warm)
	}
}

func rate(t schema.Throughput) throughput.Rate {
	return throughput.Rate{Read: float64(t.Read), Write: float64(t.Write)}
}

// place returns the position of an entry of the table or of an index in its model. key is the
// store's whole key.
func (sh *shape) place(ix *index, key []byte) throughput.Key {
	position := key[prefixLen:]
	n := min(hashLen, len(position))
	if ix == nil || ix.local {
		n += attribute.KeyLen(position[n:], sh.Table.Type(sh.Table.HashName()))
	} else {
		for _, k := range ix.hash {
			n += attribute.KeyLen(position[n:], k.Type)
		}
	}
	return throughput.Key{Position: position, Collection: n}
}

// modelOf returns the model that limits reads of an index or of the table itself, or nil if there
// are no limits. Local indexes are in the table's partitions.
func (sh *shape) modelOf(ix *index) *throughput.Model {
	if ix == nil || ix.local {
		return sh.model
	}
	return ix.model
}

// admit returns an error if the limits do not allow a request to the item at key.
func (m *meter) admit(sh *shape, op throughput.Op, key []byte) error {
	if r := sh.model.Admit(op, sh.place(nil, key), m.clock()); r != 0 {
		return throttled(sh, nil, op, r)
	}
	return nil
}

// spend takes units from the table's model for the item at key.
func (m *meter) spend(sh *shape, op throughput.Op, key []byte, units api.Units) {
	sh.model.Spend(op, sh.place(nil, key), units.Float(), m.clock())
}

// charge is the cost of a write for one model, once the write is certain.
type charge struct {
	sh     *shape
	index  *index // nil: of the table
	key    []byte // the whole key
	units  api.Units
	bytes  int64 // the number of bytes by which the entry grows
	action int   // the index of the action in its transaction
}

func (ch *charge) model() *throughput.Model { return ch.sh.modelOf(ch.index) }

// owe notes the cost of writing an entry. The table pays for local indexes, in the partition of
// the item.
func (c *Call) owe(sh *shape, ix *index, key []byte, units api.Units, bytes int) {
	if ix != nil && ix.local {
		// The item's own charge comes before those of its indexes.
		last := &c.charges[len(c.charges)-1]
		last.units += units
		last.bytes += int64(bytes)
		return
	}
	c.charges = append(c.charges, charge{sh: sh, index: ix, key: c.keep(key), units: units, bytes: int64(bytes)})
}

// afford returns an error if the limits of the charged indexes and item collections do not allow
// the writes. Otherwise it takes the cost. The table has admitted the writes before.
func (m *meter) afford(charges []charge) error {
	for i := range charges {
		if err := m.allow(&charges[i]); err != nil {
			return err
		}
	}
	m.pay(charges)
	return nil
}

// allow returns an error if one charge is not allowed.
func (m *meter) allow(ch *charge) error {
	if ch.index == nil {
		return m.checkCollection(ch)
	}
	if r := ch.model().Admit(throughput.Write, ch.sh.place(ch.index, ch.key), m.clock()); r != 0 {
		return throttled(ch.sh, ch.index, throughput.Write, r)
	}
	return nil
}

// pay takes the cost of charges.
func (m *meter) pay(charges []charge) {
	now := m.clock()
	for i := range charges {
		ch := &charges[i]
		ch.model().Spend(throughput.Write, ch.sh.place(ch.index, ch.key), ch.units.Float(), now)
	}
	m.resize(charges)
}

// resize notes only how charges change sizes. It is for the store's own writes, which nobody pays
// for.
func (m *meter) resize(charges []charge) {
	now := m.clock()
	for i := range charges {
		ch := &charges[i]
		if ch.bytes == 0 {
			continue
		}
		ch.model().Place(ch.sh.place(ch.index, ch.key), ch.bytes, now)
		if ch.index == nil {
			m.growCollection(ch)
		}
	}
}

// Texts of throttled requests, as AWS documents them.
const (
	textProvisioned      = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	textProvisionedIndex = "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. " +
		"Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API"
	textOnDemand = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	textOnDemandIndex = "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly."
	textMaximum       = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
	textAccount       = "Throughput exceeds the current throughput limit for your account. To request a limit increase, contact AWS Support at https://aws.amazon.com/support"
	textCollection    = "Collection size exceeded."
)

// throttled returns the error of a request that met limits of the table or of an index.
func throttled(sh *shape, ix *index, op throughput.Op, r throughput.Refusal) *exception.Error {
	resource, arn := "Table", sh.Table.ARN
	provisioned, onDemand := textProvisioned, textOnDemand
	if ix != nil && !ix.local {
		resource, arn = "Index", ix.ARN
		if op == throughput.Write {
			provisioned, onDemand = textProvisionedIndex, textOnDemandIndex
		}
	}
	var e *exception.Error
	switch {
	case sh.Table.Billing != schema.PayPerRequest:
		e = exception.New(exception.ProvisionedThroughputExceeded, "%s", provisioned)
	case r == throughput.AccountLimit:
		e = exception.New(exception.RequestLimitExceeded, "%s", textAccount)
	case r&throughput.MaxOnDemand != 0:
		e = exception.New(exception.Throttling, "%s", textMaximum)
	default:
		e = exception.New(exception.Throttling, "%s", onDemand)
	}
	for _, reason := range r.Reasons(resource, op) {
		e.Throttling = append(e.Throttling, exception.ThrottlingReason{Reason: reason, Resource: arn})
	}
	return e
}

// isThrottled reports whether an error comes from a limit. A batch leaves such a write unprocessed.
func isThrottled(err error) bool {
	switch exception.Of(err).Kind {
	case exception.ProvisionedThroughputExceeded, exception.Throttling, exception.RequestLimitExceeded:
		return true
	}
	return false
}
