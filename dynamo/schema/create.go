// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// These are limits of tables.
const (
	MaxLocal         = 5
	MaxGlobal        = 20
	MaxKeyAttributes = 4   // each of HASH and RANGE, of a global secondary index
	MaxIncluded      = 20  // NonKeyAttributes of an index
	MaxProjected     = 100 // of all indexes
	MaxUnits         = 1_000_000_000_000
)

// Create returns the table of a declaration, or AWS's error. The caller, which has the clock,
// sets Status, ID, ARNs and times.
func Create(d *Declaration) (*Table, error) {
	t := &Table{
		Name:               d.Name,
		Definitions:        slices.Clone(d.Definitions),
		Billing:            d.Billing,
		Class:              d.Class,
		DeletionProtection: d.DeletionProtection,
	}
	if t.Billing == "" {
		t.Billing = Provisioned
	}
	if err := t.setThroughput(d); err != nil {
		return nil, err
	}
	if err := t.setKey(d); err != nil {
		return nil, err
	}
	if err := t.addLocal(d); err != nil {
		return nil, err
	}
	if err := t.addGlobal(d); err != nil {
		return nil, err
	}
	if err := t.checkDefinitions(); err != nil {
		return nil, err
	}
	if d.Stream != nil {
		switch {
		case d.Stream.Enabled && d.Stream.View == "":
			return nil, exception.InvalidParameters("Table is being created with a stream enabled, UpdateViewType is required")
		case !d.Stream.Enabled && d.Stream.View != "":
			return nil, exception.InvalidParameters("Table is being created with a stream disabled, UpdateViewType should not be specified")
		}
		t.Stream = *d.Stream
	}
	if d.Encryption != nil {
		t.Encryption = *d.Encryption
	}
	return t.WithTags(d.Tags)
}

func (t *Table) setThroughput(d *Declaration) error {
	switch {
	case t.Billing == PayPerRequest && d.Provisioned != nil:
		return exception.InvalidParameters("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case t.Billing == Provisioned && d.Provisioned == nil:
		return exception.InvalidParameters("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case t.Billing == Provisioned && value(d.OnDemand) != Throughput{}:
		return exception.InvalidParameters("%s for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.", onDemandMember(d.OnDemand))
	}
	if err := checkUnits(d.Provisioned); err != nil {
		return err
	}
	t.Provisioned, t.OnDemand = value(d.Provisioned), value(d.OnDemand)
	warm, err := newWarm(t.Billing, t.Provisioned, d.Warm, "table")
	t.Warm = warm
	return err
}

// onDemandMember returns the member of an OnDemandThroughput that messages name.
func onDemandMember(p *Throughput) string {
	if p.Read != 0 {
		return "MaxReadRequestUnits"
	}
	return "MaxWriteRequestUnits"
}

func value(p *Throughput) Throughput {
	if p == nil {
		return Throughput{}
	}
	return *p
}

func checkUnits(p *Throughput) error {
	switch {
	case p == nil:
	case p.Read > MaxUnits:
		return exception.Invalid("Given value %d for ReadCapacityUnits is out of bounds", p.Read)
	case p.Write > MaxUnits:
		return exception.Invalid("Given value %d for WriteCapacityUnits is out of bounds", p.Write)
	}
	return nil
}

func (t *Table) setKey(d *Declaration) error {
	for i, def := range t.Definitions {
		if slices.ContainsFunc(t.Definitions[:i], func(e Definition) bool { return e.Name == def.Name }) {
			return exception.Invalid("Attribute Name is duplicated: %s", def.Name)
		}
	}
	if len(d.Key) > len(d.Definitions) {
		return exception.Invalid("Invalid KeySchema: Some index key attribute have no definition")
	}
	key, err := t.key(d.Key, false)
	t.Key = key
	return err
}

// key checks a key schema. The key of a global secondary index may have several attributes of
// each kind.
func (t *Table) key(elements []KeyElement, multiple bool) (Key, error) {
	if err := checkDefined(elements, t.Definitions); err != nil {
		return Key{}, err
	}
	if len(elements) == 2 && elements[0].Name == elements[1].Name {
		return Key{}, exception.Invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	if elements[0].Type != "HASH" {
		return Key{}, exception.Invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	if !multiple && len(elements) == 2 && elements[1].Type != "RANGE" {
		return Key{}, exception.Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	var k Key
	for _, e := range elements {
		switch {
		case k.Has(e.Name):
			return Key{}, exception.Invalid("The KeySchema contains multiple key attributes with the same name")
		case e.Type == "RANGE":
			k.Range = append(k.Range, e.Name)
		case k.Range != nil:
			return Key{}, exception.InvalidParameters("All HASH key attributes must precede RANGE key attributes in the KeySchema")
		default:
			k.Hash = append(k.Hash, e.Name)
		}
	}
	const many = "The KeySchema exceeds the maximum allowed number of %s key attributes"
	switch {
	case len(k.Hash) > MaxKeyAttributes:
		return Key{}, exception.InvalidParameters(many, "HASH")
	case len(k.Range) > MaxKeyAttributes:
		return Key{}, exception.InvalidParameters(many, "RANGE")
	}
	return k, nil
}

// checkDefined returns an error if an attribute of a key is not defined.
func checkDefined(elements []KeyElement, definitions []Definition) error {
	missing := func(e KeyElement) bool {
		return !slices.ContainsFunc(definitions, func(d Definition) bool { return d.Name == e.Name })
	}
	if !slices.ContainsFunc(elements, missing) {
		return nil
	}
	var keys []string
	for _, e := range elements {
		keys = append(keys, e.Name)
	}
	return exception.InvalidParameters("Some index key attributes are not defined in AttributeDefinitions. Keys: %s, AttributeDefinitions: %s",
		listing(keys), listing(defined(definitions)))
}

// defined returns the names of attribute definitions.
func defined(definitions []Definition) []string {
	var names []string
	for _, d := range definitions {
		names = append(names, d.Name)
	}
	return names
}

func listing(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

func (t *Table) addLocal(d *Declaration) error {
	if d.Local == nil {
		return nil
	}
	if len(d.Local) == 0 {
		return exception.InvalidParameters("List of LocalSecondaryIndexes is empty")
	}
	if len(t.Key.Range) == 0 {
		return exception.InvalidParameters("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	for i := range d.Local {
		ix, err := t.index(&d.Local[i], false)
		if err != nil {
			return err
		}
		if len(ix.Key.Range) == 0 {
			return exception.InvalidParameters("Index KeySchema does not have a range key for index: %s", ix.Name)
		}
		if ix.Key.Hash[0] != t.HashName() {
			return exception.InvalidParameters("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. index hash key: %s, table hash key: %s",
				ix.Name, ix.Key.Hash[0], t.HashName())
		}
		if err := t.checkNew(&ix); err != nil {
			return err
		}
		t.Local = append(t.Local, ix)
	}
	if len(t.Local) > MaxLocal {
		return exception.InvalidParameters("Number of LocalSecondaryIndexes exceeds per-table limit of %d", MaxLocal)
	}
	return nil
}

func (t *Table) addGlobal(d *Declaration) error {
	if d.Global == nil {
		return nil
	}
	if len(d.Global) == 0 {
		return exception.InvalidParameters("List of GlobalSecondaryIndexes is empty")
	}
	for i := range d.Global {
		ix, err := t.globalIndex(&d.Global[i], "ProvisionedThroughput should not be specified", "ProvisionedThroughput is not specified")
		if err != nil {
			return err
		}
		t.Global = append(t.Global, ix)
	}
	if len(t.Global) > MaxGlobal {
		return exception.InvalidParameters("GlobalSecondaryIndex count exceeds the per-table limit of %d", MaxGlobal)
	}
	return nil
}

// globalIndex checks the declaration of a new global secondary index. tooMuch and tooLittle are
// AWS's messages about its throughput, which depend on the operation.
func (t *Table) globalIndex(d *IndexDeclaration, tooMuch, tooLittle string) (Index, error) {
	ix, err := t.index(d, true)
	if err != nil {
		return ix, err
	}
	switch {
	case t.Billing == PayPerRequest && d.Provisioned != nil:
		return ix, exception.InvalidParameters("%s for index: %s when BillingMode is PAY_PER_REQUEST", tooMuch, ix.Name)
	case t.Billing == Provisioned && d.Provisioned == nil:
		return ix, exception.InvalidParameters("%s for index: %s", tooLittle, ix.Name)
	}
	if err := checkUnits(d.Provisioned); err != nil {
		return ix, err
	}
	ix.Status = Creating
	ix.Provisioned, ix.OnDemand = value(d.Provisioned), value(d.OnDemand)
	if ix.Warm, err = newWarm(t.Billing, ix.Provisioned, d.Warm, "index "+ix.Name); err != nil {
		return ix, err
	}
	return ix, t.checkNew(&ix)
}

// index checks what local and global secondary indexes have in common.
func (t *Table) index(d *IndexDeclaration, global bool) (Index, error) {
	ix := Index{Name: d.Name}
	var err error
	if ix.Key, err = t.key(d.Key, global); err != nil {
		return ix, err
	}
	p := d.Projection
	if p == nil || p.Type == "" {
		return ix, exception.InvalidParameters("Unknown ProjectionType: null")
	}
	ix.Projection = Projection{Type: ProjectionType(p.Type), NonKey: slices.Clone(p.NonKey)}
	switch {
	case p.NonKey != nil && ix.Projection.Type != ProjectInclude:
		return ix, exception.InvalidParameters("ProjectionType is %s, but NonKeyAttributes is specified", p.Type)
	case len(p.NonKey) == 0 && ix.Projection.Type == ProjectInclude:
		return ix, exception.InvalidParameters("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	for i, name := range p.NonKey {
		if slices.Contains(p.NonKey[:i], name) {
			return ix, exception.InvalidParameters("Duplicate element in NonKeyAttributes: %s", name)
		}
	}
	return ix, nil
}

// checkNew returns an error if an index may not be added to the existing ones.
func (t *Table) checkNew(ix *Index) error {
	if known, _ := t.Index(ix.Name); known != nil {
		return exception.InvalidParameters("Duplicate index name: %s", ix.Name)
	}
	projected := len(ix.Projection.NonKey)
	for _, indexes := range [2][]Index{t.Local, t.Global} {
		for i := range indexes {
			projected += len(indexes[i].Projection.NonKey)
		}
	}
	if projected > MaxProjected {
		return exception.InvalidParameters("Number of NonKeyAttributes of all indexes exceeds the per-table limit of %d", MaxProjected)
	}
	return nil
}

// checkDefinitions returns an error if a definition is not used.
func (t *Table) checkDefinitions() error {
	if t.Local == nil && t.Global == nil && len(t.Definitions) != len(t.Key.Hash)+len(t.Key.Range) {
		return exception.InvalidParameters("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	for _, d := range t.Definitions {
		if !t.Key.Has(d.Name) && !t.isIndexKey(d.Name) {
			return exception.InvalidParameters("Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: %s",
				listing(defined(t.Definitions)), listing(t.used()))
		}
	}
	return nil
}

// used returns the names of all key attributes, each once.
func (t *Table) used() []string {
	names := t.Key.Names(nil)
	for _, indexes := range [2][]Index{t.Local, t.Global} {
		for i := range indexes {
			names = indexes[i].Key.Names(names)
		}
	}
	var once []string
	for _, n := range names {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return once
}

// String formats the key as in messages: (a, b) for two attributes.
func (k Key) String() string { return fmt.Sprintf("(%s)", strings.Join(k.Names(nil), ", ")) }
