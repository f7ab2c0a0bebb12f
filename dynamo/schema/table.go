// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Key is a key schema. A table's key has one Hash attribute and at most one Range attribute. The
// key of a global secondary index has up to four of each.
type Key struct {
	Hash  []string // the partition key's attributes, in order
	Range []string // the sort key's attributes, in order; may be none
}

// Definition is the type of a key attribute.
type Definition struct {
	Name string
	Type attribute.Kind // S, N or B
}

// Projection says which attributes an index holds besides the keys.
type Projection struct {
	Type   ProjectionType
	NonKey []string // ProjectInclude only
}

// ProjectionType is an index's kind of projection.
type ProjectionType string

const (
	ProjectAll      ProjectionType = "ALL"
	ProjectKeysOnly ProjectionType = "KEYS_ONLY"
	ProjectInclude  ProjectionType = "INCLUDE"
)

// BillingMode says how a table is billed.
type BillingMode string

const (
	Provisioned   BillingMode = "PROVISIONED"
	PayPerRequest BillingMode = "PAY_PER_REQUEST"
)

// Status of a table or global secondary index.
type Status string

const (
	Creating Status = "CREATING"
	Updating Status = "UPDATING"
	Deleting Status = "DELETING"
	Active   Status = "ACTIVE"
)

// Throughput is provisioned or, on demand, the largest allowed; 0 if none is set.
type Throughput struct {
	Read, Write int64 // units a second
}

// Index is a secondary index.
type Index struct {
	Name       string
	ARN        string
	Key        Key
	Projection Projection

	// The fields below are for global indexes only.
	Status      Status
	Backfilling bool
	Provisioned Throughput // of a provisioned table
	OnDemand    Throughput // limits of an on-demand table, 0 or -1: none
	Warm        Throughput
}

// Tag of a table.
type Tag struct{ Key, Value string }

// Stream holds the settings of DynamoDB Streams.
type Stream struct {
	Enabled bool
	View    string // NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY
}

// Encryption holds the settings of encryption at rest.
type Encryption struct {
	Enabled bool
	Type    string // AES256 or KMS
	KeyID   string
}

// TimeToLive holds the settings of item expiry.
type TimeToLive struct {
	Enabled   bool
	Attribute string
}

// Table is a table as DescribeTable shows it, with its tags. A Table in use must not be changed;
// make another.
type Table struct {
	Name        string
	ID          string
	ARN         string
	Created     time.Time
	Status      Status
	Definitions []Definition // in the order of their declaration
	Key         Key
	Local       []Index
	Global      []Index

	Billing            BillingMode
	BillingChanged     time.Time // last change to PayPerRequest
	Provisioned        Throughput
	ProvisionedRaised  time.Time
	ProvisionedLowered time.Time
	Decreases          int64 // decreases of the provisioned throughput today
	OnDemand           Throughput
	Warm               Throughput

	Class              string // STANDARD or STANDARD_INFREQUENT_ACCESS; empty is STANDARD
	DeletionProtection bool
	Stream             Stream
	StreamLabel        string
	Encryption         Encryption
	TimeToLive         TimeToLive
	Tags               []Tag // sorted by key
}

// HashName returns the name of the table's partition key.
func (t *Table) HashName() string { return t.Key.Hash[0] }

// RangeName returns the name of the table's sort key, or "" if it has none.
func (t *Table) RangeName() string {
	if len(t.Key.Range) == 0 {
		return ""
	}
	return t.Key.Range[0]
}

// Type returns the declared type of a key attribute, or Invalid for any other attribute.
func (t *Table) Type(name string) attribute.Kind {
	for _, d := range t.Definitions {
		if d.Name == name {
			return d.Type
		}
	}
	return attribute.Invalid
}

// Index returns a secondary index by name; local says which kind it is.
func (t *Table) Index(name string) (ix *Index, local bool) {
	for i := range t.Local {
		if t.Local[i].Name == name {
			return &t.Local[i], true
		}
	}
	for i := range t.Global {
		if t.Global[i].Name == name {
			return &t.Global[i], false
		}
	}
	return nil, false
}

// Projects says whether an index of the table has an attribute.
func (t *Table) Projects(ix *Index, name string) bool {
	return ix.Projection.Type == ProjectAll || ix.Key.Has(name) || t.Key.Has(name) || slices.Contains(ix.Projection.NonKey, name)
}

// Names appends the key's attributes, hash first.
func (k Key) Names(dst []string) []string {
	dst = slices.Grow(dst, len(k.Hash)+len(k.Range))
	return append(append(dst, k.Hash...), k.Range...)
}

// Has says whether an attribute is part of the key.
func (k Key) Has(name string) bool {
	for _, n := range k.Hash {
		if n == name {
			return true
		}
	}
	for _, n := range k.Range {
		if n == name {
			return true
		}
	}
	return false
}
