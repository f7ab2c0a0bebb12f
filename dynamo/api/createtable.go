// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// CreateTable creates a table.
type CreateTable struct {
	schema.Declaration
}

// Operation implements Request.
func (*CreateTable) Operation() string { return "CreateTable" }

// Decode implements Request.
func (q *CreateTable) Decode(d *Decoder, body []byte) error {
	var in tableInput
	if err := d.readTable(body, &in); err != nil {
		return err
	}
	if err := checkNewName(in.name); err != nil {
		return err
	}
	var c constraints
	c.notNull(in.definitions != nil, "attributeDefinitions")
	c.definitions(in.definitions)
	c.name(in.name, minName, "tableName")
	c.settings(&in)
	c.key(in.key, 2, "keySchema")
	for i := range in.global {
		c.index(&in.global[i], 2*schema.MaxKeyAttributes, "globalSecondaryIndexes."+strconv.Itoa(i+1)+".member.")
	}
	for i := range in.local {
		c.index(&in.local[i], 2, "localSecondaryIndexes."+strconv.Itoa(i+1)+".member.")
	}
	if err := c.err(); err != nil {
		return err
	}
	if err := in.checkSupported(); err != nil {
		return err
	}
	if err := in.checkOnDemand(false); err != nil {
		return err
	}
	tags, err := convertTags(in.tags)
	if err != nil {
		return err
	}
	q.Declaration = schema.Declaration{
		Name:               in.name.value,
		Definitions:        convertDefinitions(in.definitions),
		Key:                convertKey(in.key),
		Local:              convertIndexes(in.local),
		Global:             convertIndexes(in.global),
		Billing:            schema.BillingMode(in.billing.value),
		Provisioned:        in.provisioned.convert(),
		OnDemand:           in.onDemand.convert(),
		Warm:               in.warm.warmth(),
		Class:              in.class.value,
		DeletionProtection: in.protection.value,
		Stream:             in.stream.convert(),
		Encryption:         in.encryption.convert(),
		Tags:               tags,
	}
	return nil
}
