// SPDX-License-Identifier: Apache-2.0

package system

// The tables with estimates of the size of all tables. Spark and other clients divide their reads
// by them.
const (
	SizeEstimates  = "size_estimates"
	TableEstimates = "table_estimates"
)

// Estimate is an estimate of the size of a table.
type Estimate struct {
	Keyspace, Table   string
	Partitions, Bytes int64
}

// Rows returns the estimate's rows in SizeEstimates or TableEstimates: one for each token range of
// the node. Its only range is the whole ring.
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
