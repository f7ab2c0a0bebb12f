// SPDX-License-Identifier: Apache-2.0

package system

// The tables that tell how much data the tables have. Spark and others divide their reads
// by them.
const (
	SizeEstimates  = "size_estimates"
	TableEstimates = "table_estimates"
)

// Estimate is how much data a table has.
type Estimate struct {
	Keyspace, Table   string
	Partitions, Bytes int64
}

// Rows are the estimate's in SizeEstimates or TableEstimates: one a range of the node's
// tokens, which is the whole ring.
func (e *Estimate) Rows(table string) []Row {
	row := func(kind string) Row {
		r := Row{
			"keyspace_name": []byte(e.Keyspace), "table_name": []byte(e.Table),
			"range_start": []byte(Token), "range_end": []byte(Token),
			"partitions_count": long(e.Partitions), "mean_partition_size": long(e.Bytes / max(e.Partitions, 1)),
		}
		if kind != "" {
			r["range_type"] = []byte(kind)
		}
		return r
	}
	if table == SizeEstimates {
		return []Row{row("")}
	}
	return []Row{row("primary"), row("local_primary")}
}
