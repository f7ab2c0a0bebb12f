// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// UpdateTable changes a table's settings or its global secondary indexes.
type UpdateTable struct {
	Table string
	schema.Change
}

// Operation implements Request.
func (*UpdateTable) Operation() string { return "UpdateTable" }

// Decode implements Request.
func (q *UpdateTable) Decode(d *Decoder, body []byte) error {
	var in tableInput
	if err := d.readTable(body, &in); err != nil {
		return err
	}
	if err := checkNewName(in.name); err != nil {
		return err
	}
	var c constraints
	c.name(in.name, anyTable, "tableName")
	c.definitions(in.definitions)
	c.settings(&in)
	for i := range in.updates {
		in.updates[i].check(&c, "globalSecondaryIndexUpdates."+strconv.Itoa(i+1)+".member.")
	}
	if err := c.err(); err != nil {
		return err
	}
	if err := in.checkSupported(); err != nil {
		return err
	}
	if err := in.checkChanges(); err != nil {
		return err
	}
	if err := in.checkOnDemand(true); err != nil {
		return err
	}
	q.Table = in.name.value
	q.Change = schema.Change{
		Definitions: convertDefinitions(in.definitions),
		Billing:     schema.BillingMode(in.billing.value),
		Provisioned: in.provisioned.convert(),
		OnDemand:    in.onDemand.convert(),
		Warm:        in.warm.warmth(),
		Class:       in.class.value,
		Stream:      in.stream.convert(),
		Encryption:  in.encryption.convert(),
	}
	if in.protection.given {
		q.DeletionProtection = &in.protection.value
	}
	for _, u := range in.updates {
		var change schema.IndexChange
		switch {
		case u.create != nil:
			declared := u.create.convert()
			change.Create = &declared
		case u.update != nil:
			declared := u.update.convert()
			change.Update = &declared
		default:
			change.Delete = u.delete.name.value
		}
		q.Indexes = append(q.Indexes, change)
	}
	return nil
}

func (u *indexUpdate) check(c *constraints, at string) {
	if u.update != nil {
		c.notNull(u.update.name.given, at+"update.indexName")
		c.name(u.update.name, minName, at+"update.indexName")
		c.provisioned(u.update.provisioned, at+"update.provisionedThroughput")
	}
	if u.create != nil {
		c.index(u.create, 2*schema.MaxKeyAttributes, at+"create.")
	}
	if u.delete != nil {
		c.notNull(u.delete.name.given, at+"delete.indexName")
		c.name(u.delete.name, minName, at+"delete.indexName")
	}
}

// checkChanges returns an error if there is nothing to change, or if several changes are about one
// index.
func (in *tableInput) checkChanges() error {
	if in.changes() == 0 {
		return exception.Invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, " +
			"MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required")
	}
	if in.updates != nil && len(in.updates) == 0 {
		return exception.InvalidParameters("List of GlobalSecondaryIndexUpdates is empty")
	}
	if in.billing.value == string(schema.Provisioned) && !in.provisioned.given {
		return exception.InvalidParameters("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	}
	seen, online := make(map[string]bool), 0
	for _, u := range in.updates {
		name, actions := "", 0
		for _, a := range []*indexDeclaration{u.create, u.update, u.delete} {
			if a != nil {
				name = a.name.value
				actions++
			}
		}
		switch {
		case actions > 1:
			return exception.InvalidParameters("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
		case actions == 0:
			return exception.InvalidParameters("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null")
		}
		if seen[name] {
			return exception.InvalidParameters("Only one global secondary index update per index is allowed simultaneously. Index: %s", name)
		}
		seen[name] = true
		if u.update == nil {
			online++
		} else if u.update.warm.given && u.update.warm.empty() {
			return exception.InvalidParameters("WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: %s", name)
		}
	}
	if online > 1 {
		return schema.ErrOneIndex
	}
	return in.checkTogether(online > 0)
}

// changes returns the number of members that change something.
func (in *tableInput) changes() int {
	n := 0
	for _, given := range []bool{
		in.provisioned.given, in.onDemand.given, !in.warm.empty(), in.billing.given, in.class.given, in.protection.given,
		in.stream != nil, in.encryption != nil, len(in.updates) > 0,
	} {
		if given {
			n++
		}
	}
	return n
}

// checkTogether returns an error if one request may not make these changes together. online says
// that an index is created or deleted.
func (in *tableInput) checkTogether(online bool) error {
	creates := slices.ContainsFunc(in.updates, func(u indexUpdate) bool { return u.create != nil })
	iops := in.provisioned.given || in.billing.value == string(schema.Provisioned)
	several, warm := in.changes() > 1, !in.warm.empty()
	switch {
	case several && in.encryption != nil:
		return exception.InvalidParameters("Server-Side Encryption modification must be the only operation in the request")
	case several && in.class.given:
		return exception.InvalidParameters("TableClass modification must be the only operation in the request")
	case several && in.protection.given:
		return exception.InvalidParameters("DeletionProtection modification must be the only operation in the request")
	case in.onDemand.given && !in.onDemand.empty() && (warm || in.stream != nil):
		return exception.InvalidParameters("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
	case warm && creates:
		return exception.InvalidParameters("Create global secondary index cannot be specified when updating WarmThroughput")
	case warm && several:
		return exception.InvalidParameters("WarmThroughput must be the only operation in the request")
	case iops && in.stream != nil:
		return exception.InvalidParameters("You cannot modify stream status while updating table IOPS")
	case in.provisioned.given && online:
		return exception.InvalidParameters("You cannot create or delete index while updating table IOPS")
	case in.stream != nil && online:
		return exception.InvalidParameters("You cannot create or delete index while changing stream status")
	}
	return nil
}
