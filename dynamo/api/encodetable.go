// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// Writing the bodies of requests about tables for a store in another process.

// AppendJSON implements Request.
func (q *CreateTable) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "TableName", q.Name)
	dst = appendDefinitions(dst, q.Definitions)
	dst = appendKeyElements(dst, q.Key)
	dst = appendDeclarations(dst, "LocalSecondaryIndexes", q.Local)
	dst = appendDeclarations(dst, "GlobalSecondaryIndexes", q.Global)
	dst = appendSettings(dst, q.Billing, q.Provisioned, q.OnDemand, q.Warm, q.Class)
	dst = appendTrue(dst, "DeletionProtectionEnabled", q.DeletionProtection)
	dst = appendSpecifications(dst, q.Stream, q.Encryption)
	if len(q.Tags) > 0 {
		dst = appendTags(dst, q.Tags)
	}
	return append(dst, '}')
}

// AppendJSON implements Request.
func (q *UpdateTable) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	if q.Definitions != nil {
		dst = appendDefinitions(dst, q.Definitions)
	}
	dst = appendSettings(dst, q.Billing, q.Provisioned, q.OnDemand, q.Warm, q.Class)
	if q.DeletionProtection != nil {
		dst = strconv.AppendBool(member(dst, "DeletionProtectionEnabled"), *q.DeletionProtection)
	}
	dst = appendSpecifications(dst, q.Stream, q.Encryption)
	if len(q.Indexes) == 0 {
		return append(dst, '}')
	}
	dst = append(member(dst, "GlobalSecondaryIndexUpdates"), '[')
	for i, change := range q.Indexes {
		dst = element(dst, i)
		dst = append(dst, '{')
		switch {
		case change.Create != nil:
			dst = appendDeclaration(member(dst, "Create"), change.Create)
		case change.Update != nil:
			dst = appendDeclaration(member(dst, "Update"), change.Update)
		default:
			dst = append(appendStringMember(append(member(dst, "Delete"), '{'), "IndexName", change.Delete), '}')
		}
		dst = append(dst, '}')
	}
	return append(dst, ']', '}')
}

// AppendJSON implements Request.
func (q *DeleteTable) AppendJSON(dst []byte) []byte { return appendTableName(dst, q.Table) }

// AppendJSON implements Request.
func (q *DescribeTable) AppendJSON(dst []byte) []byte { return appendTableName(dst, q.Table) }

// AppendJSON implements Request.
func (q *DescribeTimeToLive) AppendJSON(dst []byte) []byte { return appendTableName(dst, q.Table) }

// AppendJSON implements Request.
func (q *UpdateTimeToLive) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	dst = appendStringMember(append(member(dst, "TimeToLiveSpecification"), '{'), "AttributeName", q.Attribute)
	return append(strconv.AppendBool(member(dst, "Enabled"), q.Enabled), '}', '}')
}

// AppendJSON implements Request.
func (q *ListTables) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if q.Start != "" {
		dst = appendStringMember(dst, "ExclusiveStartTableName", q.Start)
	}
	if q.Limit > 0 {
		dst = appendIntMember(dst, "Limit", int64(q.Limit))
	}
	return append(dst, '}')
}

// AppendJSON implements Request.
func (q *TagResource) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "ResourceArn", q.ARN)
	return append(appendTags(dst, q.Tags), '}')
}

// AppendJSON implements Request.
func (q *UntagResource) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "ResourceArn", q.ARN)
	return append(appendStrings(member(dst, "TagKeys"), q.Keys), '}')
}

// AppendJSON implements Request.
func (q *ListTagsOfResource) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "ResourceArn", q.ARN)
	if q.Next != "" {
		dst = appendStringMember(dst, "NextToken", q.Next)
	}
	return append(dst, '}')
}

// AppendJSON implements Request.
func (q *DescribeLimits) AppendJSON(dst []byte) []byte { return append(dst, '{', '}') }

// AppendJSON implements Request.
func (q *DescribeEndpoints) AppendJSON(dst []byte) []byte { return append(dst, '{', '}') }

func appendTableName(dst []byte, name string) []byte {
	return append(appendStringMember(append(dst, '{'), "TableName", name), '}')
}

func appendDefinitions(dst []byte, all []schema.Definition) []byte {
	dst = append(member(dst, "AttributeDefinitions"), '[')
	for i, d := range all {
		dst = element(dst, i)
		dst = appendStringMember(append(dst, '{'), "AttributeName", d.Name)
		dst = append(appendStringMember(dst, "AttributeType", d.Type.String()), '}')
	}
	return append(dst, ']')
}

func appendKeyElements(dst []byte, all []schema.KeyElement) []byte {
	dst = append(member(dst, "KeySchema"), '[')
	for i, e := range all {
		dst = element(dst, i)
		dst = appendStringMember(append(dst, '{'), "AttributeName", e.Name)
		dst = append(appendStringMember(dst, "KeyType", e.Type), '}')
	}
	return append(dst, ']')
}

func appendDeclarations(dst []byte, name string, all []schema.IndexDeclaration) []byte {
	if all == nil {
		return dst
	}
	dst = append(member(dst, name), '[')
	for i := range all {
		dst = element(dst, i)
		dst = appendDeclaration(dst, &all[i])
	}
	return append(dst, ']')
}

func appendDeclaration(dst []byte, d *schema.IndexDeclaration) []byte {
	dst = appendStringMember(append(dst, '{'), "IndexName", d.Name)
	if len(d.Key) > 0 { // a change of throughput has no key
		dst = appendKeyElements(dst, d.Key)
	}
	if p := d.Projection; p != nil {
		dst = append(member(dst, "Projection"), '{')
		if p.Type != "" {
			dst = appendStringMember(dst, "ProjectionType", p.Type)
		}
		if p.NonKey != nil {
			dst = appendStrings(member(dst, "NonKeyAttributes"), p.NonKey)
		}
		dst = append(dst, '}')
	}
	return append(appendThroughputs(dst, d.Provisioned, d.OnDemand, d.Warm), '}')
}

func appendThroughputs(dst []byte, provisioned, onDemand, warm *schema.Throughput) []byte {
	for _, t := range []struct {
		of                *schema.Throughput
		name, read, write string
	}{
		{provisioned, "ProvisionedThroughput", "ReadCapacityUnits", "WriteCapacityUnits"},
		{onDemand, "OnDemandThroughput", "MaxReadRequestUnits", "MaxWriteRequestUnits"},
		{warm, "WarmThroughput", "ReadUnitsPerSecond", "WriteUnitsPerSecond"},
	} {
		if t.of == nil {
			continue
		}
		dst = append(member(dst, t.name), '{')
		if t.of.Read != 0 {
			dst = appendIntMember(dst, t.read, t.of.Read)
		}
		if t.of.Write != 0 {
			dst = appendIntMember(dst, t.write, t.of.Write)
		}
		dst = append(dst, '}')
	}
	return dst
}

func appendSettings(dst []byte, billing schema.BillingMode, provisioned, onDemand, warm *schema.Throughput, class string) []byte {
	if billing != "" {
		dst = appendStringMember(dst, "BillingMode", string(billing))
	}
	dst = appendThroughputs(dst, provisioned, onDemand, warm)
	if class != "" {
		dst = appendStringMember(dst, "TableClass", class)
	}
	return dst
}

func appendSpecifications(dst []byte, s *schema.Stream, e *schema.Encryption) []byte {
	if s != nil {
		dst = strconv.AppendBool(append(member(dst, "StreamSpecification"), `{"StreamEnabled":`...), s.Enabled)
		if s.View != "" {
			dst = appendStringMember(dst, "StreamViewType", s.View)
		}
		dst = append(dst, '}')
	}
	if e == nil {
		return dst
	}
	dst = strconv.AppendBool(append(member(dst, "SSESpecification"), `{"Enabled":`...), e.Enabled)
	if e.Type != "" {
		dst = appendStringMember(dst, "SSEType", e.Type)
	}
	if e.KeyID != "" {
		dst = appendStringMember(dst, "KMSMasterKeyId", e.KeyID)
	}
	return append(dst, '}')
}

func appendTags(dst []byte, tags []schema.Tag) []byte {
	dst = append(member(dst, "Tags"), '[')
	for i, t := range tags {
		dst = element(dst, i)
		dst = append(appendStringMember(appendStringMember(append(dst, '{'), "Key", t.Key), "Value", t.Value), '}')
	}
	return append(dst, ']')
}
