// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// The structures that CreateTable and UpdateTable share, as they came.

// throughput is a ProvisionedThroughput, OnDemandThroughput or WarmThroughput.
type throughput struct {
	given       bool
	read, write integer
}

// keyElement is a KeySchemaElement. definition is an AttributeDefinition.
type (
	keyElement struct{ name, kind text }
	definition struct{ name, kind text }
)

// projection is a Projection.
type projection struct {
	given  bool
	kind   text
	nonKey []text // nil: not given
}

// indexDeclaration is a LocalSecondaryIndex, a GlobalSecondaryIndex, or an action on one of these.
type indexDeclaration struct {
	name                        text
	key                         []keyElement // nil: not given
	projection                  projection
	provisioned, onDemand, warm throughput
}

// tableInput holds the members of both operations.
type tableInput struct {
	name                        text
	definitions                 []definition // nil: not given
	key                         []keyElement
	local, global               []indexDeclaration
	updates                     []indexUpdate
	billing, class              text
	provisioned, onDemand, warm throughput
	protection                  flag
	stream                      *streamInput
	encryption                  *encryptionInput
	tags                        []tagInput
	unsupported                 string // a member that evenkeel does not support; empty: none
}

type indexUpdate struct {
	create, update, delete *indexDeclaration
}

type streamInput struct {
	enabled flag
	view    text
}

type encryptionInput struct {
	enabled     flag
	kind, keyID text
}

type tagInput struct{ key, value text }

// readTable reads the members of a request.
func (d *Decoder) readTable(body []byte, in *tableInput) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	for r.Next() {
		if r.Peek() == jsontext.Null {
			r.Skip()
			continue
		}
		switch r.Name() {
		case "TableName":
			in.name = readText(r)
		case "AttributeDefinitions":
			in.definitions = readList(r, func() (v definition) {
				members(r, "AttributeDefinition", true, func(name string) {
					switch name {
					case "AttributeName":
						v.name = readText(r)
					case "AttributeType":
						v.kind = readText(r)
					default:
						r.Skip()
					}
				})
				return v
			})
		case "KeySchema":
			in.key = readKey(r)
		case "LocalSecondaryIndexes":
			in.local = readList(r, func() indexDeclaration { return readIndex(r, "LocalSecondaryIndex", true) })
		case "GlobalSecondaryIndexes":
			in.global = readList(r, func() indexDeclaration { return readIndex(r, "GlobalSecondaryIndex", true) })
		case "GlobalSecondaryIndexUpdates":
			in.updates = readList(r, func() indexUpdate { return readIndexUpdate(r) })
		case "BillingMode":
			in.billing = readText(r)
		case "TableClass":
			in.class = readText(r)
		case "ProvisionedThroughput":
			in.provisioned = readThroughput(r, "ProvisionedThroughput", "ReadCapacityUnits", "WriteCapacityUnits")
		case "OnDemandThroughput":
			in.onDemand = readThroughput(r, "OnDemandThroughput", "MaxReadRequestUnits", "MaxWriteRequestUnits")
		case "WarmThroughput":
			in.warm = readThroughput(r, "WarmThroughput", "ReadUnitsPerSecond", "WriteUnitsPerSecond")
		case "DeletionProtectionEnabled":
			in.protection = readFlag(r)
		case "StreamSpecification":
			in.stream = readStream(r)
		case "SSESpecification":
			in.encryption = readEncryption(r)
		case "Tags":
			in.tags = readTags(r)
		case "ReplicaUpdates", "ResourcePolicy", "MultiRegionConsistency", "GlobalTableWitnessUpdates", "GlobalTableSettingsReplicationMode", "VectorIndexes", "VectorIndexUpdates":
			in.unsupported = r.Name()
			r.Skip()
		default:
			r.Skip()
		}
	}
	return d.end()
}

// maxListed is the largest number of elements that the decoder keeps of a list. No list of names,
// and no list in an operation on tables, may have as many. So the elements beyond change nothing.
const maxListed = 1000

// readList reads a list. Its result is not nil if there is a list.
func readList[T any](r *jsontext.Reader, element func() T) []T {
	if !attribute.EnterList(r) {
		return nil
	}
	out := []T{}
	for r.Next() {
		if len(out) < maxListed {
			out = append(out, element())
		} else {
			r.Skip()
		}
	}
	return out
}

// members reads a structure. It calls member with the name of each member; member must read the
// member's value.
func members(r *jsontext.Reader, structure string, element bool, member func(name string)) bool {
	if !attribute.EnterStructure(r, structurePrefix+structure, element) {
		return false
	}
	for r.Next() {
		member(r.Name())
	}
	return true
}

func readKey(r *jsontext.Reader) []keyElement {
	return readList(r, func() (v keyElement) {
		members(r, "KeySchemaElement", true, func(name string) {
			switch name {
			case "AttributeName":
				v.name = readText(r)
			case "KeyType":
				v.kind = readText(r)
			default:
				r.Skip()
			}
		})
		return v
	})
}

func readIndex(r *jsontext.Reader, structure string, element bool) (v indexDeclaration) {
	members(r, structure, element, func(name string) {
		if r.Peek() == jsontext.Null {
			r.Skip()
			return
		}
		switch name {
		case "IndexName":
			v.name = readText(r)
		case "KeySchema":
			v.key = readKey(r)
		case "Projection":
			v.projection.given = members(r, "Projection", false, func(name string) {
				switch {
				case name == "ProjectionType":
					v.projection.kind = readText(r)
				case name == "NonKeyAttributes" && r.Peek() != jsontext.Null:
					v.projection.nonKey = readTexts(r)
				default:
					r.Skip()
				}
			})
		case "ProvisionedThroughput":
			v.provisioned = readThroughput(r, "ProvisionedThroughput", "ReadCapacityUnits", "WriteCapacityUnits")
		case "OnDemandThroughput":
			v.onDemand = readThroughput(r, "OnDemandThroughput", "MaxReadRequestUnits", "MaxWriteRequestUnits")
		case "WarmThroughput":
			v.warm = readThroughput(r, "WarmThroughput", "ReadUnitsPerSecond", "WriteUnitsPerSecond")
		default:
			r.Skip()
		}
	})
	return v
}

func readIndexUpdate(r *jsontext.Reader) (v indexUpdate) {
	read := func(structure string) *indexDeclaration {
		if r.Peek() == jsontext.Null {
			r.Skip()
			return nil
		}
		d := readIndex(r, structure, false)
		return &d
	}
	members(r, "GlobalSecondaryIndexUpdate", true, func(name string) {
		switch name {
		case "Create":
			v.create = read("CreateGlobalSecondaryIndexAction")
		case "Update":
			v.update = read("UpdateGlobalSecondaryIndexAction")
		case "Delete":
			v.delete = read("DeleteGlobalSecondaryIndexAction")
		default:
			r.Skip()
		}
	})
	return v
}

func readThroughput(r *jsontext.Reader, structure, read, write string) (v throughput) {
	v.given = members(r, structure, false, func(name string) {
		switch name {
		case read:
			v.read = readInteger(r, "Long")
		case write:
			v.write = readInteger(r, "Long")
		default:
			r.Skip()
		}
	})
	return v
}

func readStream(r *jsontext.Reader) *streamInput {
	v := new(streamInput)
	members(r, "StreamSpecification", false, func(name string) {
		switch name {
		case "StreamEnabled":
			v.enabled = readFlag(r)
		case "StreamViewType":
			v.view = readText(r)
		default:
			r.Skip()
		}
	})
	return v
}

func readEncryption(r *jsontext.Reader) *encryptionInput {
	v := new(encryptionInput)
	members(r, "SSESpecification", false, func(name string) {
		switch name {
		case "Enabled":
			v.enabled = readFlag(r)
		case "SSEType":
			v.kind = readText(r)
		case "KMSMasterKeyId":
			v.keyID = readText(r)
		default:
			r.Skip()
		}
	})
	return v
}

func readTags(r *jsontext.Reader) []tagInput {
	return readList(r, func() (v tagInput) {
		members(r, "Tag", true, func(name string) {
			switch name {
			case "Key":
				v.key = readText(r)
			case "Value":
				v.value = readText(r)
			default:
				r.Skip()
			}
		})
		return v
	})
}

// Checks.

func (c *constraints) definitions(all []definition) {
	for i, v := range all {
		at := "attributeDefinitions." + strconv.Itoa(i+1) + ".member."
		c.notNull(v.name.given, at+"attributeName")
		if v.name.given {
			c.length(len(v.name.value), 1, maxName, func() string { return v.name.value }, at+"attributeName")
		}
		c.notNull(v.kind.given, at+"attributeType")
		c.enum(v.kind, at+"attributeType", "B", "N", "S")
	}
}

// throughput checks a throughput, if it is given. read and write are the names of its members.
func (c *constraints) throughput(t throughput, at, read, write string) {
	if !t.given {
		return
	}
	c.notNull(t.write.given, at+"."+write)
	c.atLeast(t.write, 1, at+"."+write)
	c.notNull(t.read.given, at+"."+read)
	c.atLeast(t.read, 1, at+"."+read)
}

func (c *constraints) provisioned(t throughput, at string) {
	c.throughput(t, at, "readCapacityUnits", "writeCapacityUnits")
}

// key checks a KeySchema, which may have at most most elements.
func (c *constraints) key(key []keyElement, most int, at string) {
	c.notNull(key != nil, at)
	if key == nil {
		return
	}
	c.length(len(key), 1, most, func() string { return describeKey(key) }, at)
	for i, e := range key {
		member := at + "." + strconv.Itoa(i+1) + ".member."
		c.notNull(e.name.given, member+"attributeName")
		if e.name.given {
			c.length(len(e.name.value), 1, maxName, func() string { return e.name.value }, member+"attributeName")
		}
		c.notNull(e.kind.given, member+"keyType")
		c.enum(e.kind, member+"keyType", "HASH", "RANGE")
	}
}

func describeKey(key []keyElement) string {
	parts := make([]string, len(key))
	for i, e := range key {
		parts[i] = "KeySchemaElement(attributeName=" + e.name.value + ", keyType=" + e.kind.value + ")"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// index checks the declaration of an index. The key of the index may have at most most elements.
func (c *constraints) index(d *indexDeclaration, most int, at string) {
	c.notNull(d.name.given, at+"indexName")
	c.name(d.name, minName, at+"indexName")
	c.key(d.key, most, at+"keySchema")
	c.notNull(d.projection.given, at+"projection")
	c.enum(d.projection.kind, at+"projection.projectionType", "ALL", "INCLUDE", "KEYS_ONLY")
	if d.projection.nonKey != nil {
		n := len(d.projection.nonKey)
		c.length(n, 1, schema.MaxIncluded, func() string { return listing(d.projection.nonKey) }, at+"projection.nonKeyAttributes")
		for i, t := range d.projection.nonKey {
			c.length(len(t.value), 1, maxName, func() string { return t.value }, at+"projection.nonKeyAttributes."+strconv.Itoa(i+1)+".member")
		}
	}
	c.provisioned(d.provisioned, at+"provisionedThroughput")
}

// settings checks the members that both operations have.
func (c *constraints) settings(in *tableInput) {
	c.enum(in.billing, "billingMode", "PROVISIONED", "PAY_PER_REQUEST")
	c.provisioned(in.provisioned, "provisionedThroughput")
	c.enum(in.class, "tableClass", "STANDARD", "STANDARD_INFREQUENT_ACCESS")
	if in.stream != nil {
		c.notNull(in.stream.enabled.given, "streamSpecification.streamEnabled")
		c.enum(in.stream.view, "streamSpecification.streamViewType", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")
	}
	if in.encryption != nil {
		c.enum(in.encryption.kind, "sSESpecification.sSEType", "AES256", "KMS")
	}
}

func (in *tableInput) checkSupported() error {
	if in.unsupported != "" {
		return exception.Invalid("%s is not supported by evenkeel; leave it out, or use the table in AWS itself", in.unsupported)
	}
	return nil
}

// checkOnDemand returns an error if a limit of an on-demand table or index is out of range. clear
// says that -1 is allowed: it clears a limit that a table may already have.
func (in *tableInput) checkOnDemand(clear bool) error {
	check := func(p *throughput, of string) error {
		for _, m := range []struct {
			name string
			integer
		}{{"MaxReadRequestUnits", p.read}, {"MaxWriteRequestUnits", p.write}} {
			if m.given && (m.value < 1 && !(clear && m.value == -1) || m.value > schema.MaxUnits) {
				return exception.InvalidParameters("Requested %s for OnDemandThroughput for %s is outside of valid range", m.name, of)
			}
		}
		return nil
	}
	if err := check(&in.onDemand, "table"); err != nil {
		return err
	}
	declared := slices.Clone(in.global)
	for _, u := range in.updates {
		for _, d := range []*indexDeclaration{u.create, u.update} {
			if d != nil {
				declared = append(declared, *d)
			}
		}
	}
	for i := range declared {
		if err := check(&declared[i].onDemand, "index : "+declared[i].name.value); err != nil {
			return err
		}
	}
	return nil
}

// checkNewName returns an error if the TableName of an operation on tables is missing.
func checkNewName(t text) error {
	if !t.given {
		return exception.Invalid("The parameter 'TableName' is required but was not present in the request")
	}
	return nil
}

// Conversions.

func (t throughput) convert() *schema.Throughput {
	if !t.given {
		return nil
	}
	return &schema.Throughput{Read: t.read.value, Write: t.write.value}
}

// warmth converts a WarmThroughput. An empty one is the same as none. A member that is 0 becomes
// -1, because 0 stands for a member that was not given.
func (t throughput) warmth() *schema.Throughput {
	if t.empty() {
		return nil
	}
	p := t.convert()
	if t.read.given && p.Read == 0 {
		p.Read = -1
	}
	if t.write.given && p.Write == 0 {
		p.Write = -1
	}
	return p
}

func (t throughput) empty() bool { return !t.read.given && !t.write.given }

func convertKey(key []keyElement) []schema.KeyElement {
	out := make([]schema.KeyElement, len(key))
	for i, e := range key {
		out[i] = schema.KeyElement{Name: e.name.value, Type: e.kind.value}
	}
	return out
}

func convertDefinitions(all []definition) []schema.Definition {
	var out []schema.Definition
	for _, v := range all {
		k, _ := attribute.KindOf(v.kind.value)
		out = append(out, schema.Definition{Name: v.name.value, Type: k})
	}
	return out
}

func (d *indexDeclaration) convert() schema.IndexDeclaration {
	out := schema.IndexDeclaration{
		Name: d.name.value, Key: convertKey(d.key),
		Provisioned: d.provisioned.convert(), OnDemand: d.onDemand.convert(), Warm: d.warm.warmth(),
	}
	if d.projection.given {
		out.Projection = &schema.ProjectionDeclaration{Type: d.projection.kind.value}
		if d.projection.nonKey != nil {
			out.Projection.NonKey = []string{}
		}
		for _, t := range d.projection.nonKey {
			out.Projection.NonKey = append(out.Projection.NonKey, t.value)
		}
	}
	return out
}

func convertIndexes(all []indexDeclaration) []schema.IndexDeclaration {
	if all == nil {
		return nil
	}
	out := make([]schema.IndexDeclaration, len(all))
	for i := range all {
		out[i] = all[i].convert()
	}
	return out
}

func (s *streamInput) convert() *schema.Stream {
	if s == nil {
		return nil
	}
	return &schema.Stream{Enabled: s.enabled.value, View: s.view.value}
}

func (e *encryptionInput) convert() *schema.Encryption {
	if e == nil {
		return nil
	}
	return &schema.Encryption{Enabled: e.enabled.value, Type: e.kind.value, KeyID: e.keyID.value}
}

// convertTags converts tags and checks them.
func convertTags(all []tagInput) ([]schema.Tag, error) {
	var c constraints
	out := make([]schema.Tag, len(all))
	for i, t := range all {
		at := "tags." + strconv.Itoa(i+1) + ".member."
		c.notNull(t.key.given, at+"key")
		c.notNull(t.value.given, at+"value")
		out[i] = schema.Tag{Key: t.key.value, Value: t.value.value}
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return out, schema.CheckTags(out)
}
