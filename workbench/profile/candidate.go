// SPDX-License-Identifier: Apache-2.0

package profile

import "time"

// Part is a component of a partition key.
type Part struct {
	Column string
	Bucket Granularity // for a column of time: the period that replaces the value. Whole: the value
}

// Candidate is a primary key to measure.
type Candidate struct {
	Partition  []Part
	Clustering []string // columns
	Added      int      // bytes of a further clustering column that the data do not have; 0: none

	// Shards is the number of shards of write_sharding; 0 and 1: none. By holds the columns to
	// hash. If it is empty, all of Clustering is hashed, as in write_sharding. If that is empty,
	// too, the rows are spread evenly, as strategy random does.
	Shards int
	By     []string

	// Time is the column that says when a row was written; "": unknown. With it, Measure also
	// measures Measured.Peak, and growth is by time.
	Time string

	// Detail asks for Measured.Detail.
	Detail bool
	// NoPeak leaves out Measured.Peak. LossAlone leaves out everything but Lost, Rows and Unkeyed.
	// Both take a fraction of the time.
	NoPeak, LossAlone bool

	// InShard says that the layout keeps the time bucket: the shard's number holds it, and no
	// column does.
	InShard bool
}

// Measured says what a candidate would do with the data.
type Measured struct {
	Candidate
	Rows int64 // rows that have the key's columns
	// Unkeyed counts rows in which a column of the primary key is null. Cassandra refuses them.
	Unkeyed int64

	Partitions Estimate // physical partitions: each shard counts
	RowSizes   Sizes    // rows of a partition, as they are in the data
	ByteSizes  Sizes    // bytes of a partition, serialized as Cassandra does (before compression)
	RowBytes   float64  // of a row, serialized, without the partition's own bytes
	Largest    []Partition
	Heaviest   float64  // rows of the partition with the most bytes
	Lost       Estimate // rows that another row overwrites: their whole primary key repeats

	// Squares is the sum over all partitions of the square of their rows. The chance that two rows
	// are in one partition follows from it.
	Squares Estimate

	// Course counts the rows of each of 128 equal parts of the time from the first to the last
	// value of Candidate.Time. Busiest is the window of that time in which one partition is
	// hottest. Both are nil without Time, or with shards.
	Course  []int64
	Busiest *Busiest

	// Since holds, for each of the parts of Course, the rows of the partition that gets most from the
	// beginning of that part on.
	Since []Since

	ItemSizes *ItemSizes // of all rows; nil unless Options.Billing asks for it

	Peak   *Peak     // the busiest unit of time of one partition; nil without Time
	Growth []float64 // the share of the partitions that had begun by each tenth of the rows

	// Tokens holds the rows of 4096 equal ranges of tokens under Murmur3Partitioner, in ascending
	// order. Partitions that are known count with their own weight. The others are spread evenly.
	Tokens []float64

	Detail *Detail // nil unless the candidate asked for it
	known  []tokenRows
	rest   float64
}

// Sizes describes the sizes of partitions, in rows or bytes.
type Sizes struct {
	Mean          float64
	P50, P90, P99 Estimate
	Max           Estimate
}

// Partition is one of the partitions with the most rows.
type Partition struct {
	Values []string // of the partition key; for a bucket, the time at which it begins
	Shard  int      // 1..Shards; 0: no shards
	Token  int64
	Rows   Estimate
	Share  float64  // of all rows
	Bytes  Estimate // serialized

	// ItemSizes has the sizes of the partition's items. If Rows is not exact, items at the beginning
	// are missing. It is nil unless Options.Billing asks for it, and the candidate has no shards.
	ItemSizes *ItemSizes

	// Over counts the partition's rows in each sixteenth of the time from the first to the last
	// value of Candidate.Time, or, without Time, of the rows in their order. If Rows is not exact,
	// some rows at the beginning are missing.
	Over []int64
}

// Since is the partition that gets most rows from some time on.
type Since struct {
	Values []string // of the partition key
	Rows   Estimate
}

// Peak is the greatest number of rows of one partition in one unit of time.
type Peak struct {
	Granularity Granularity // the unit: that of the time column, but no finer than Second
	Rows        Estimate
	Values      []string // of the partition key
	Shard       int
	Start       time.Time
	// Total is the greatest number of rows of all partitions together in one such unit.
	Total Estimate
}

type tokenRows struct {
	token int64
	rows  float64
}
