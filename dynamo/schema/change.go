// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Apply returns the table after a change, or AWS's error. New indexes have Status Creating, and
// indexes to delete have Deleting. The caller sets the table's own Status.
func (t *Table) Apply(c *Change) (*Table, error) {
	n := *t
	n.Definitions = slices.Clone(t.Definitions)
	n.Global = slices.Clone(t.Global)
	if err := n.define(c); err != nil {
		return nil, err
	}
	if err := n.bill(t, c); err != nil {
		return nil, err
	}
	for i := range c.Indexes {
		if err := n.changeIndex(&c.Indexes[i]); err != nil {
			return nil, err
		}
	}
	if n.Billing == Provisioned && t.Billing == PayPerRequest {
		for i := range n.Global {
			if n.Global[i].Provisioned == (Throughput{}) && n.Global[i].Status != Deleting {
				return nil, exception.InvalidParameters("ProvisionedThroughput must be specified for index: %s", n.Global[i].Name)
			}
		}
	}
	n.keepWarm()
	if len(n.Global) > MaxGlobal {
		return nil, exception.New(exception.LimitExceeded, "GlobalSecondaryIndex count exceeds the per-table limit of %d", MaxGlobal)
	}
	if c.Class != "" {
		n.Class = c.Class
	}
	if c.DeletionProtection != nil {
		n.DeletionProtection = *c.DeletionProtection
	}
	if c.Stream != nil {
		switch {
		case c.Stream.Enabled && t.Stream.Enabled:
			return nil, exception.Invalid("Table already has an enabled stream: TableName: %s", t.Name)
		case !c.Stream.Enabled && !t.Stream.Enabled:
			return nil, exception.Invalid("Table has no stream to disable: TableName: %s", t.Name)
		case c.Stream.Enabled && c.Stream.View == "":
			return nil, exception.InvalidParameters("If stream is being enabled then UpdateViewType is required")
		case !c.Stream.Enabled && c.Stream.View != "":
			return nil, exception.InvalidParameters("If stream is being disabled, then UpdateViewType must not be specified")
		}
		n.Stream = *c.Stream
	}
	if c.Encryption != nil {
		n.Encryption = *c.Encryption
	}
	return &n, nil
}

// define adds definitions of new attributes. All key attributes of a new index must be defined,
// and known ones must keep their types.
func (t *Table) define(c *Change) error {
	for _, ix := range c.Indexes {
		if ix.Create == nil {
			continue
		}
		if known, _ := t.Index(ix.Create.Name); known != nil {
			continue // which is said of it
		}
		if err := checkDefined(ix.Create.Key, c.Definitions); err != nil {
			return err
		}
		for _, e := range ix.Create.Key {
			i := slices.IndexFunc(c.Definitions, func(d Definition) bool { return d.Name == e.Name })
			if known := t.Type(e.Name); known != attribute.Invalid && known != c.Definitions[i].Type {
				return t.redefined(e.Name, ix.Create.Key, c.Definitions)
			}
		}
	}
	for _, d := range c.Definitions {
		switch known := t.Type(d.Name); {
		case known == attribute.Invalid:
			t.Definitions = append(t.Definitions, d)
		case known != d.Type:
			return exception.InvalidParameters("Attribute %s is defined as %s in the table and as %s in AttributeDefinitions", d.Name, known, d.Type)
		}
	}
	return nil
}

// redefined returns AWS's error for a key attribute of a new index that has another type in the
// table.
func (t *Table) redefined(name string, key []KeyElement, definitions []Definition) error {
	was := t.Key
	for _, indexes := range [2][]Index{t.Local, t.Global} {
		for i := range indexes {
			if !was.Has(name) {
				was = indexes[i].Key
			}
		}
	}
	var before, now []string
	for i, n := range was.Names(nil) {
		kind := "HASH"
		if i >= len(was.Hash) {
			kind = "RANGE"
		}
		before = append(before, fmt.Sprintf("key{%s:%s:%s}", n, t.Type(n), kind))
	}
	for _, e := range key {
		i := slices.IndexFunc(definitions, func(d Definition) bool { return d.Name == e.Name })
		now = append(now, fmt.Sprintf("key{%s:%s:%s}", e.Name, definitions[i].Type, e.Type))
	}
	const schema = "Schema:[SchemaElement: %s]"
	return exception.InvalidParameters("Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "+
		"Existing schema: "+schema+" New schema: "+schema, strings.Join(before, ", SchemaElement: "), strings.Join(now, ", SchemaElement: "))
}

// bill changes the table's billing and throughput. was is the table before the change.
func (t *Table) bill(was *Table, c *Change) error {
	if c.Billing != "" {
		t.Billing = c.Billing
	}
	switch {
	case t.Billing == PayPerRequest && c.Provisioned != nil:
		return exception.InvalidParameters("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case c.Billing == Provisioned && was.Billing != Provisioned && c.Provisioned == nil:
		return exception.InvalidParameters("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	case t.Billing == Provisioned && value(c.OnDemand) != Throughput{}:
		return exception.InvalidParameters("%s for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED", onDemandMember(c.OnDemand))
	}
	if err := checkUnits(c.Provisioned); err != nil {
		return err
	}
	if c.Provisioned != nil {
		if *c.Provisioned == was.Provisioned && was.Billing == Provisioned {
			return unchanged(was.Provisioned)
		}
		t.Provisioned = *c.Provisioned
	}
	if t.Billing == PayPerRequest && was.Billing != PayPerRequest {
		t.Provisioned = Throughput{}
		for i := range t.Global {
			t.Global[i].Provisioned = Throughput{}
		}
	}
	if t.Billing == Provisioned && was.Billing != Provisioned {
		t.OnDemand = Throughput{}
		for i := range t.Global {
			t.Global[i].OnDemand = Throughput{}
		}
	}
	if c.OnDemand != nil {
		t.OnDemand = *c.OnDemand
	}
	warm, err := raiseWarm(t.Warm, c.Warm, "table")
	t.Warm = warm
	return err
}

func unchanged(p Throughput) error {
	return exception.Invalid("The provisioned throughput for the table will not change. The requested value equals the current value. "+
		"Current ReadCapacityUnits provisioned for the table: %d. Requested ReadCapacityUnits: %d. "+
		"Current WriteCapacityUnits provisioned for the table: %d. Requested WriteCapacityUnits: %d. "+
		"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.", p.Read, p.Read, p.Write, p.Write)
}

// ErrOneIndex is AWS's error for an index that is created or deleted while another one is.
var ErrOneIndex = exception.New(exception.LimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")

func (t *Table) changeIndex(c *IndexChange) error {
	busy := func(ix Index) bool { return ix.Backfilling && ix.Name != c.Delete } // which may be given up
	if c.Update == nil && slices.ContainsFunc(t.Global, busy) {
		return ErrOneIndex
	}
	if c.Create != nil {
		ix, err := t.globalIndex(c.Create, "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified", "Both ReadCapacityUnits and WriteCapacityUnits must be specified")
		if err != nil {
			if known, _ := t.Index(c.Create.Name); known != nil {
				return exception.Invalid("Attempting to create an index which already exists")
			}
			return err
		}
		t.Global = append(t.Global, ix)
		return nil
	}
	name := c.Delete
	if c.Update != nil {
		name = c.Update.Name
	}
	i := slices.IndexFunc(t.Global, func(ix Index) bool { return ix.Name == name })
	if i < 0 {
		return exception.New(exception.ResourceNotFound, "Requested resource not found")
	}
	ix := &t.Global[i]
	if c.Update == nil {
		ix.Status = Deleting
		return nil
	}
	u := c.Update
	switch {
	case t.Billing == PayPerRequest && u.Provisioned != nil:
		return exception.InvalidParameters("The only Updates for index: %s when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput", ix.Name)
	case u.Provisioned != nil && *u.Provisioned == ix.Provisioned:
		return unchanged(ix.Provisioned)
	}
	if u.Provisioned != nil {
		if u.Provisioned.Read > MaxUnits || u.Provisioned.Write > MaxUnits {
			return exception.Invalid("This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate")
		}
		ix.Provisioned = *u.Provisioned
	}
	if u.OnDemand != nil {
		ix.OnDemand = *u.OnDemand
	}
	warm, err := raiseWarm(ix.Warm, u.Warm, "index "+ix.Name)
	ix.Warm = warm
	return err
}
