// SPDX-License-Identifier: Apache-2.0

package schema

// Declaration is what CreateTable declares.
type Declaration struct {
	Name        string
	Definitions []Definition
	Key         []KeyElement
	Local       []IndexDeclaration // nil where there is none, empty where the list is empty
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

// IndexDeclaration is what CreateTable or UpdateTable declares of an index.
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
	NonKey []string // nil where there is none
}

// Change is what UpdateTable asks for; what is nil or empty stays.
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

// IndexChange is one change of a global secondary index: one of the three is set.
type IndexChange struct {
	Create *IndexDeclaration
	Update *IndexDeclaration // Name and throughputs
	Delete string
}
