// SPDX-License-Identifier: Apache-2.0

package schema

// Declaration is the content of a CreateTable.
type Declaration struct {
	Name        string
	Definitions []Definition
	Key         []KeyElement
	Local       []IndexDeclaration // nil: not given; empty: the list is empty
	Global      []IndexDeclaration

	Billing            BillingMode // empty: Provisioned
	Provisioned        *Throughput
	OnDemand           *Throughput
	Warm               *Throughput
	Class              string
	DeletionProtection bool
	Stream             *Stream
	Encryption         *Encryption
	Tags               []Tag
}

// KeyElement is one element of a KeySchema.
type KeyElement struct {
	Name string
	Type string // HASH or RANGE
}

// IndexDeclaration declares an index in CreateTable or UpdateTable.
type IndexDeclaration struct {
	Name        string
	Key         []KeyElement
	Projection  *ProjectionDeclaration
	Provisioned *Throughput
	OnDemand    *Throughput
	Warm        *Throughput
}

// ProjectionDeclaration is an index's projection as declared.
type ProjectionDeclaration struct {
	Type   string
	NonKey []string // nil: not given
}

// Change is the content of an UpdateTable. Fields that are nil or empty change nothing.
type Change struct {
	Definitions        []Definition
	Billing            BillingMode
	Provisioned        *Throughput
	OnDemand           *Throughput
	Warm               *Throughput
	Indexes            []IndexChange
	Class              string
	DeletionProtection *bool
	Stream             *Stream
	Encryption         *Encryption
}

// IndexChange is one change of a global secondary index. One of its three fields is set.
type IndexChange struct {
	Create *IndexDeclaration
	Update *IndexDeclaration // Name and throughputs
	Delete string
}
