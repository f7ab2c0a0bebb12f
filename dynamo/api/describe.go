// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// TableSize is the size of a table in its description.
type TableSize struct {
	Items, Bytes int64
	Indexes      map[string]TableSize // by name
}

// TableResponse is the answer to CreateTable, UpdateTable, DeleteTable and DescribeTable.
type TableResponse struct {
	Table    *schema.Table
	Size     TableSize
	Describe bool // the answer's member is called Table, not TableDescription
}

// AppendJSON implements Response.
func (r *TableResponse) AppendJSON(dst []byte) []byte {
	name := "TableDescription"
	if r.Describe {
		name = "Table"
	}
	dst = r.appendTable(append(member(append(dst, '{'), name), '{'))
	return append(dst, '}', '}')
}

func (r *TableResponse) appendTable(dst []byte) []byte {
	t := r.Table
	dst = appendStringMember(dst, "TableName", t.Name)
	dst = appendStringMember(dst, "TableStatus", string(t.Status))
	dst = appendStringMember(dst, "TableArn", t.ARN)
	dst = appendStringMember(dst, "TableId", t.ID)
	if !t.Created.IsZero() {
		dst = appendTime(member(dst, "CreationDateTime"), t.Created)
	}
	if len(t.Key.Hash) > 0 { // AWS does not show the key of a table that is being deleted
		dst = appendDefinitions(dst, t.Definitions)
		dst = appendKey(dst, t.Key)
	}
	dst = r.appendThroughput(dst)
	dst = appendIntMember(dst, "TableSizeBytes", r.Size.Bytes)
	dst = appendIntMember(dst, "ItemCount", r.Size.Items)
	dst = r.appendIndexes(dst, "LocalSecondaryIndexes", t.Local, true)
	dst = r.appendIndexes(dst, "GlobalSecondaryIndexes", t.Global, false)
	if t.Stream.Enabled {
		dst = append(member(dst, "StreamSpecification"), `{"StreamEnabled":true`...)
		dst = append(appendStringMember(dst, "StreamViewType", t.Stream.View), '}')
	}
	if t.StreamLabel != "" { // a table keeps its label when its stream is disabled
		dst = appendStringMember(dst, "LatestStreamLabel", t.StreamLabel)
		dst = appendStringMember(dst, "LatestStreamArn", t.ARN+"/stream/"+t.StreamLabel)
	}
	if e := t.Encryption; e.Enabled {
		kind := e.Type
		if kind == "" {
			kind = "KMS"
		}
		dst = append(member(dst, "SSEDescription"), `{"Status":"ENABLED"`...)
		dst = appendStringMember(dst, "SSEType", kind)
		if e.KeyID != "" {
			dst = appendStringMember(dst, "KMSMasterKeyArn", e.KeyID)
		}
		dst = append(dst, '}')
	}
	if t.Class != "" {
		dst = append(appendStringMember(append(member(dst, "TableClassSummary"), '{'), "TableClass", t.Class), '}')
	}
	dst = strconv.AppendBool(member(dst, "DeletionProtectionEnabled"), t.DeletionProtection)
	return dst
}

// appendThroughput appends the table's billing mode and its throughput.
func (r *TableResponse) appendThroughput(dst []byte) []byte {
	t := r.Table
	dst = append(member(dst, "ProvisionedThroughput"), '{')
	if !t.ProvisionedRaised.IsZero() {
		dst = appendTime(member(dst, "LastIncreaseDateTime"), t.ProvisionedRaised)
	}
	if !t.ProvisionedLowered.IsZero() {
		dst = appendTime(member(dst, "LastDecreaseDateTime"), t.ProvisionedLowered)
	}
	dst = appendIntMember(dst, "NumberOfDecreasesToday", t.Decreases)
	dst = append(appendUnits(dst, t.Provisioned, "ReadCapacityUnits", "WriteCapacityUnits"), '}')
	if t.Billing == schema.PayPerRequest || !t.BillingChanged.IsZero() {
		dst = appendStringMember(append(member(dst, "BillingModeSummary"), '{'), "BillingMode", string(t.Billing))
		if !t.BillingChanged.IsZero() {
			dst = appendTime(member(dst, "LastUpdateToPayPerRequestDateTime"), t.BillingChanged)
		}
		dst = append(dst, '}')
	}
	dst = appendOnDemand(dst, t.OnDemand)
	return appendWarm(dst, t.Warm, t.Status)
}

func appendUnits(dst []byte, p schema.Throughput, read, write string) []byte {
	return appendIntMember(appendIntMember(dst, read, p.Read), write, p.Write)
}

func appendOnDemand(dst []byte, p schema.Throughput) []byte {
	if p == (schema.Throughput{}) {
		return dst
	}
	return append(appendUnits(append(member(dst, "OnDemandThroughput"), '{'), p, "MaxReadRequestUnits", "MaxWriteRequestUnits"), '}')
}

func appendWarm(dst []byte, p schema.Throughput, status schema.Status) []byte {
	if p == (schema.Throughput{}) {
		return dst
	}
	dst = appendUnits(append(member(dst, "WarmThroughput"), '{'), p, "ReadUnitsPerSecond", "WriteUnitsPerSecond")
	return append(appendStringMember(dst, "Status", string(status)), '}')
}

func (r *TableResponse) appendIndexes(dst []byte, name string, indexes []schema.Index, local bool) []byte {
	if len(indexes) == 0 {
		return dst
	}
	dst = append(member(dst, name), '[')
	for i := range indexes {
		ix := &indexes[i]
		dst = element(dst, i)
		dst = appendStringMember(append(dst, '{'), "IndexName", ix.Name)
		dst = appendKey(dst, ix.Key)
		dst = appendStringMember(append(member(dst, "Projection"), '{'), "ProjectionType", string(ix.Projection.Type))
		if len(ix.Projection.NonKey) > 0 {
			dst = appendStrings(member(dst, "NonKeyAttributes"), ix.Projection.NonKey)
		}
		dst = append(dst, '}')
		dst = appendStringMember(dst, "IndexArn", ix.ARN)
		size := r.Size.Indexes[ix.Name]
		dst = appendIntMember(dst, "IndexSizeBytes", size.Bytes)
		dst = appendIntMember(dst, "ItemCount", size.Items)
		if !local {
			dst = appendStringMember(dst, "IndexStatus", string(ix.Status))
			if ix.Status == schema.Creating && r.Table.Status != schema.Creating || ix.Backfilling { // not for indexes that are created with the table
				dst = strconv.AppendBool(member(dst, "Backfilling"), ix.Backfilling)
			}
			dst = appendIntMember(append(member(dst, "ProvisionedThroughput"), '{'), "NumberOfDecreasesToday", 0)
			dst = append(appendUnits(dst, ix.Provisioned, "ReadCapacityUnits", "WriteCapacityUnits"), '}')
			dst = appendOnDemand(dst, ix.OnDemand)
			dst = appendWarm(dst, ix.Warm, ix.Status)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendKey(dst []byte, k schema.Key) []byte {
	dst = append(member(dst, "KeySchema"), '[')
	for i, name := range k.Names(nil) {
		dst = element(dst, i)
		kind := "HASH"
		if i >= len(k.Hash) {
			kind = "RANGE"
		}
		dst = appendStringMember(append(dst, '{'), "AttributeName", name)
		dst = append(appendStringMember(dst, "KeyType", kind), '}')
	}
	return append(dst, ']')
}

// appendTime appends a time in seconds since 1970, with milliseconds.
func appendTime(dst []byte, t time.Time) []byte {
	return strconv.AppendFloat(dst, float64(t.UnixMilli())/1000, 'f', 3, 64)
}

func appendStringMember(dst []byte, name, s string) []byte { return appendText(member(dst, name), s) }

func appendIntMember(dst []byte, name string, i int64) []byte {
	return strconv.AppendInt(member(dst, name), i, 10)
}

func appendStrings(dst []byte, all []string) []byte {
	dst = append(dst, '[')
	for i, s := range all {
		dst = element(dst, i)
		dst = appendText(dst, s)
	}
	return append(dst, ']')
}

// TablesResponse is the answer to ListTables.
type TablesResponse struct {
	Names []string
	Last  string // LastEvaluatedTableName; empty: none
}

// AppendJSON implements Response.
func (r *TablesResponse) AppendJSON(dst []byte) []byte {
	dst = appendStrings(member(append(dst, '{'), "TableNames"), r.Names)
	if r.Last != "" {
		dst = appendStringMember(dst, "LastEvaluatedTableName", r.Last)
	}
	return append(dst, '}')
}

// TagsResponse is the answer to ListTagsOfResource.
type TagsResponse struct {
	Tags []schema.Tag
	Next string // NextToken; empty: none
}

// AppendJSON implements Response.
func (r *TagsResponse) AppendJSON(dst []byte) []byte {
	dst = appendTags(append(dst, '{'), r.Tags)
	if r.Next != "" {
		dst = appendStringMember(dst, "NextToken", r.Next)
	}
	return append(dst, '}')
}

// TimeToLiveResponse is the answer to UpdateTimeToLive and DescribeTimeToLive.
type TimeToLiveResponse struct {
	Updated    bool // the answer is to UpdateTimeToLive, not to DescribeTimeToLive
	TimeToLive schema.TimeToLive
}

// AppendJSON implements Response.
func (r *TimeToLiveResponse) AppendJSON(dst []byte) []byte {
	if r.Updated {
		dst = appendStringMember(append(dst, `{"TimeToLiveSpecification":{`...), "AttributeName", r.TimeToLive.Attribute)
		dst = strconv.AppendBool(member(dst, "Enabled"), r.TimeToLive.Enabled)
		return append(dst, '}', '}')
	}
	status := "DISABLED"
	if r.TimeToLive.Enabled {
		status = "ENABLED"
	}
	dst = appendStringMember(append(dst, `{"TimeToLiveDescription":{`...), "TimeToLiveStatus", status)
	if r.TimeToLive.Enabled {
		dst = appendStringMember(dst, "AttributeName", r.TimeToLive.Attribute)
	}
	return append(dst, '}', '}')
}

// LimitsResponse is the answer to DescribeLimits.
type LimitsResponse struct {
	AccountRead, AccountWrite, TableRead, TableWrite int64
}

// AppendJSON implements Response.
func (r *LimitsResponse) AppendJSON(dst []byte) []byte {
	dst = appendIntMember(append(dst, '{'), "AccountMaxReadCapacityUnits", r.AccountRead)
	dst = appendIntMember(dst, "AccountMaxWriteCapacityUnits", r.AccountWrite)
	dst = appendIntMember(dst, "TableMaxReadCapacityUnits", r.TableRead)
	return append(appendIntMember(dst, "TableMaxWriteCapacityUnits", r.TableWrite), '}')
}

// EndpointsResponse is the answer to DescribeEndpoints.
type EndpointsResponse struct{ Address string }

// endpointMinutes is how long a client may keep an endpoint. AWS returns the same number.
const endpointMinutes = 1440

// AppendJSON implements Response.
func (r *EndpointsResponse) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, `{"Endpoints":[{`...), "Address", r.Address)
	return append(appendIntMember(dst, "CachePeriodInMinutes", endpointMinutes), '}', ']', '}')
}
