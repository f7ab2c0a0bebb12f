package api

import (
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// TableSize is what a description tells of a table's content.
type TableSize struct {
	Items, Bytes int64
	Indexes      map[string]TableSize // by name
}

// TableResponse is the answer to CreateTable, UpdateTable, DeleteTable and
// DescribeTable.
type TableResponse struct {
	Table    *schema.Table
	Size     TableSize
	Describe bool // the member is called Table, not TableDescription
}

// TablesResponse is the answer to ListTables.
type TablesResponse struct {
	Names []string
	Last  string // LastEvaluatedTableName; empty: none
}

// TagsResponse is the answer to ListTagsOfResource.
type TagsResponse struct {
	Tags []schema.Tag
	Next string // NextToken; empty: none
}

// TimeToLiveResponse is the answer to UpdateTimeToLive and DescribeTimeToLive.
type TimeToLiveResponse struct {
	Updated    bool // to UpdateTimeToLive
	TimeToLive schema.TimeToLive
}

// LimitsResponse is the answer to DescribeLimits.
type LimitsResponse struct {
	AccountRead, AccountWrite, TableRead, TableWrite int64
}

// EndpointsResponse is the answer to DescribeEndpoints.
type EndpointsResponse struct{ Address string }
