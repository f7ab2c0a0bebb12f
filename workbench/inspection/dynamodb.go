// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/workbench/capacity"
)

// DynamoTable is what is known about a DynamoDB table besides its items.
type DynamoTable struct {
	Name       string        `json:"name"`
	Billing    string        `json:"billing_mode"` // PAY_PER_REQUEST or PROVISIONED
	ReadUnits  int64         `json:"read_units,omitempty"`
	WriteUnits int64         `json:"write_units,omitempty"`
	WarmReads  int64         `json:"warm_read_units,omitempty"` // the read units that it can take at once
	WarmWrites int64         `json:"warm_write_units,omitempty"`
	Items      int64         `json:"item_count"` // from DescribeTable; AWS updates it every six hours
	Bytes      int64         `json:"table_bytes"`
	LocalIndex bool          `json:"local_index"` // it has one, so that an item collection can hold at most 10 GB
	Indexes    []DynamoIndex `json:"indexes"`
}

// DynamoIndex is a secondary index, with figures computed from the items that were read.
type DynamoIndex struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // global or local
	Key        []string `json:"key"`  // attributes, first those of the partition key
	Partition  int      `json:"partition_key"`
	Projection string   `json:"projection"`
	Sharding   string   `json:"write_sharding,omitempty"` // its tag, if an evenkeel door spreads it
	Items      int64    `json:"item_count"`               // from DescribeTable
	Bytes      int64    `json:"index_bytes"`

	Entries    Interval `json:"entries"` // items that have the key
	Partitions Interval `json:"partitions"`
	Largest    []Large  `json:"largest"` // Bytes are those of the items
	Finding    *Finding `json:"finding,omitempty"`
}

// CollectionBytes is the most that an item collection can hold if the table has a local secondary
// index. Without one, DynamoDB splits the collection by sort key.
const CollectionBytes = capacity.CollectionBytes

// HowDynamo explains the bytes of items, for people.
const HowDynamo = "bytes of items as AWS bills them (names and values), without what indexes take"

// WriteUnits is the number of write units that a DynamoDB partition takes per second.
const WriteUnits = 1000

// dynamoDB adds what a report of a DynamoDB table needs.
func (ri *Report) dynamoDB(r *Run, s *Summary) {
	d := s.DynamoDB
	ri.Table = d.Name
	ri.DynamoDB = d
	ri.Sizes.How = HowDynamo
	ri.NodesNote = "DynamoDB does not show which servers keep a table"
	ri.Key = dynamoKey(s)
	f := r.Covered()
	for i := range d.Indexes {
		if i < len(r.Total.Indexes) {
			d.Indexes[i].count(r.Total.Indexes[i], f, s.Top)
		}
	}
	if ri.Growth != nil { // these limits are Cassandra's
		for i := range ri.Growth.Largest {
			ri.Growth.Largest[i].Good, ri.Growth.Largest[i].Most = nil, nil
		}
	}
	ri.Key.Findings = dynamoFindings(r, ri)
}

// dynamoKey explains a DynamoDB key.
func dynamoKey(s *Summary) Key {
	k := Key{PartitionKey: []string{s.Schema.PartitionKey[0].Name}, Clustering: []string{}, Findings: []Finding{}}
	hash := k.PartitionKey[0]
	if len(s.Schema.Clustering) == 0 {
		k.Shape, k.CQL = "partition key", fmt.Sprintf("HASH %s", hash)
		k.Means = fmt.Sprintf("Each %s is one item; putting another with the same %s replaces it. Items are found by the whole key alone.", hash, hash)
		return k
	}
	sort := s.Schema.Clustering[0].Name
	k.Clustering = []string{sort}
	k.Shape, k.CQL = "partition key and sort key", fmt.Sprintf("HASH %s, RANGE %s", hash, sort)
	k.Means = fmt.Sprintf("All items with one %s are an item collection, sorted by %s; a Query reads one collection. Writes to one %s share the 1,000 write units a second of a partition.", hash, sort, hash)
	return k
}

// count computes the figures of an index from the items.
func (ix *DynamoIndex) count(l *Logical, f float64, top int) {
	list := l.list()
	n, bytes := int64(0), int64(0)
	for _, k := range list {
		n, bytes = n+k.Rows, bytes+k.Bytes
	}
	entries := float64(n) / l.Share()
	ix.Entries = total(entries, entries, 1, f)
	ix.Partitions = total1(float64(len(list)), l.Share())
	if f < 1 { // items that were not read may have other keys
		ix.Partitions.High = math.Inf(1)
	}
	ix.Largest = []Large{}
	for i, k := range list {
		if i == top {
			break
		}
		large := Large{Token: k.Token, Rows: k.Rows, Bytes: k.Bytes, Share: float64(k.Rows) / math.Max(1, entries)}
		for j, name := range ix.Key[:ix.Partition] {
			if j < len(k.key) {
				large.Key = append(large.Key, KeyValue{name, string(k.key[j])})
			}
		}
		ix.Largest = append(ix.Largest, large)
	}
	if ix.Kind != "global" || len(ix.Largest) == 0 || ix.Entries.Value < 100 || ix.Sharding != "" {
		return
	}
	share := ix.Largest[0].Share
	units := math.Max(1, math.Ceil(float64(bytes)/float64(n)/1024))
	rate := WriteUnits / (share * units)
	if share < 0.05 || rate > 20_000 {
		return
	}
	ix.Finding = &Finding{Name: "write-hot index", Columns: ix.Key[:ix.Partition], Warning: true,
		Evidence: fmt.Sprintf("of the entries of index %s, %.1f%% have one value of %s: a partition of the index is full at %s writes a second to the table, and then the table is throttled.", ix.Name, 100*share, all(ix.Key[:ix.Partition]), capacity.Number(math.Round(rate))),
		Advice:   "Spread the index: a tag write-sharding.index." + ix.Name + " with shards=N on an evenkeel door, or an attribute of 1 to N in front of its key.",
	}
}

// dynamoFindings judges a DynamoDB key by what was counted.
func dynamoFindings(r *Run, ri *Report) []Finding {
	out := []Finding{}
	d := ri.DynamoDB
	key := ri.Key.PartitionKey
	if ri.Sharding != "" {
		f := Finding{Name: "write-sharding", Evidence: ri.Sharding + "."}
		if l := ri.Logical; l != nil && l.PhysicalMax > 0 {
			f.Evidence += fmt.Sprintf(" An item collection lies in %.3g partition keys on average, %.0f at the most.", l.PhysicalMean, l.PhysicalMax)
		}
		out = append(out, f)
	}
	few := r.Total.Partitions < 20 && r.Complete() && r.Plan.Fraction == 1 && r.Total.Rows >= 1000
	if f := suffixedByHand(ri); f != nil && ri.Sharding == "" {
		out = append(out, *f)
	}
	if few && ri.Sharding == "" {
		out = append(out, Finding{Name: "low cardinality", Columns: key, Warning: true,
			Evidence: fmt.Sprintf("%s has %d different values for %d items, and each takes 1,000 write units a second at the most.", key[0], r.Total.Partitions, r.Total.Rows),
			Advice:   "A key with more values, one more attribute in it, or shards: evenkeel shards says how many.",
		})
	}
	if f := skew(ri); f != nil && !few {
		f.Advice = "If it is written as it is filled, it takes 1,000 write units a second at the most, whatever is provisioned. Spread it: the tag write-sharding, with as many shards as evenkeel shards says."
		if ri.Sharding != "" {
			f.Advice = "It is spread, and its shards are among the largest partition keys: each takes 1,000 write units a second. evenkeel shards says whether these are enough."
			f.Warning = false
		}
		out = append(out, *f)
	}
	switch most := ri.Sizes.Bytes.Max; {
	case d.LocalIndex && most > CollectionBytes/10:
		out = append(out, Finding{Name: "large item collection", Columns: key, Warning: true,
			Evidence: fmt.Sprintf("the largest that was read has %.3g GB, and the table has a local secondary index: at 10 GB writes to it fail (ItemCollectionSizeLimitExceededException).", most/(1<<30)),
			Advice:   "A global index in place of the local one, or a period or shards in the partition key.",
		})
	case most > CollectionBytes/10:
		out = append(out, Finding{Name: "large item collection", Columns: key,
			Evidence: fmt.Sprintf("the largest that was read has %.3g GB; at 10 GB DynamoDB splits it by sort key.", most/(1<<30))})
	}
	for i := range d.Indexes {
		if f := d.Indexes[i].Finding; f != nil {
			out = append(out, *f)
		}
	}
	return out
}
