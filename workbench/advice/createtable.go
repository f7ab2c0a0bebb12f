// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// definition is an attribute definition of a DynamoDB CreateTable request.
type definition struct {
	AttributeName string `json:"AttributeName"`
	AttributeType string `json:"AttributeType"`
}

type keyElement struct {
	AttributeName string `json:"AttributeName"`
	KeyType       string `json:"KeyType"`
}

type index struct {
	IndexName  string            `json:"IndexName"`
	KeySchema  []keyElement      `json:"KeySchema"`
	Projection map[string]string `json:"Projection"`
}

type tag struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// createTable returns a DynamoDB CreateTable request. A key of several columns becomes one
// attribute that joins them by #. The application writes this attribute.
func (s dynamoWriter) createTable(d *Design, v *Verdict) json.RawMessage {
	var attributes []definition
	define := func(name, typ string) string {
		if !slices.ContainsFunc(attributes, func(a definition) bool { return a.AttributeName == name }) {
			attributes = append(attributes, definition{name, typ})
		}
		return name
	}
	schema := func(e *Design, unique bool) []keyElement {
		hash, hashType := s.attribute(s.partNames(e), len(e.Partition) == 1 && e.bucket() == nil, e)
		out := []keyElement{{define(hash, hashType), "HASH"}}
		clustering := e.clusteringNames()
		if len(clustering) > 0 {
			sort, sortType := s.attribute(clustering, len(clustering) == 1, e)
			out = append(out, keyElement{define(sort, sortType), "RANGE"})
		}
		if unique {
			for _, k := range out {
				if s.p.Column(k.AttributeName) == nil && !slices.Contains(v.Added, k.AttributeName) {
					v.Added = append(v.Added, k.AttributeName)
				}
			}
		}
		return out
	}
	request := struct {
		TableName              string       `json:"TableName"`
		AttributeDefinitions   []definition `json:"AttributeDefinitions"`
		KeySchema              []keyElement `json:"KeySchema"`
		GlobalSecondaryIndexes []index      `json:"GlobalSecondaryIndexes,omitempty"`
		BillingMode            string       `json:"BillingMode"`
		Tags                   []tag        `json:"Tags,omitempty"`
	}{TableName: s.dynamoTable(), KeySchema: schema(d, true), BillingMode: "PAY_PER_REQUEST"}
	if d.Shards > 1 {
		request.Tags = append(request.Tags, tag{"write-sharding", fmt.Sprintf("strategy=calculated shards=%d", d.Shards)})
	}
	for i := range v.Extras {
		e := &v.Extras[i]
		name := s.indexName(e)
		request.GlobalSecondaryIndexes = append(request.GlobalSecondaryIndexes, index{name, schema(e.design, false), map[string]string{"ProjectionType": "ALL"}})
		if e.Shards > 1 {
			request.Tags = append(request.Tags, tag{"write-sharding.index." + name, fmt.Sprintf("shards=%d", e.Shards)})
		}
	}
	request.AttributeDefinitions = attributes
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(request); err != nil {
		panic(fmt.Sprintf("advice: CreateTable: %v", err)) // strings and numbers always encode
	}
	return bytes.TrimSpace(out.Bytes())
}

// attribute returns the name and the type of the attribute that holds some columns.
func (s dynamoWriter) attribute(names []string, single bool, d *Design) (name, typ string) {
	name, typ = strings.Join(names, "#"), "S"
	c := s.p.Column(name)
	if !single || c == nil || c.Type == nil {
		return name, typ
	}
	return name, dynamoType(c)
}

// dynamoType returns the type that a column's values have in DynamoDB.
func dynamoType(c *profile.Column) string {
	switch c.Type.Kind {
	case value.Int, value.Bigint, value.Smallint, value.Tinyint, value.Varint, value.Decimal, value.Float, value.Double:
		return "N"
	case value.Blob:
		return "B"
	}
	return "S"
}
