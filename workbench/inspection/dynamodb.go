package inspection

import "github.com/evenkeel/evenkeel/workbench/capacity"

// DynamoTable is what is known of a DynamoDB table beside its items.
type DynamoTable struct {
	Billing    string        `json:"billing_mode"` // PAY_PER_REQUEST or PROVISIONED
	ReadUnits  int64         `json:"read_units,omitempty"`
	WriteUnits int64         `json:"write_units,omitempty"`
	WarmReads  int64         `json:"warm_read_units,omitempty"` // what it takes at once
	WarmWrites int64         `json:"warm_write_units,omitempty"`
	Items      int64         `json:"item_count"` // as DescribeTable has it: AWS renews that every six hours
	Bytes      int64         `json:"table_bytes"`
	LocalIndex bool          `json:"local_index"` // so that an item collection ends at 10 GB
	Indexes    []DynamoIndex `json:"indexes"`
}

// DynamoIndex is a secondary index, and what the items that were read would make of
// it.
type DynamoIndex struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // global or local
	Key        []string `json:"key"`  // attributes, the partition key's first
	Partition  int      `json:"partition_key"`
	Projection string   `json:"projection"`
	Items      int64    `json:"item_count"` // as DescribeTable has it
	Bytes      int64    `json:"index_bytes"`

	Entries    Interval `json:"entries"` // items that have the key
	Partitions Interval `json:"partitions"`
	Largest    []Large  `json:"largest"` // Bytes are those of the items
	Finding    *Finding `json:"finding,omitempty"`
}

// CollectionBytes is what an item collection may have where the table has a local
// secondary index; without one it is split by sort key.
const CollectionBytes = capacity.CollectionBytes
