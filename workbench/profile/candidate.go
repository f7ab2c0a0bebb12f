// SPDX-License-Identifier: Apache-2.0

package profile

import "time"

// Part is a component of a partition key.
type Part struct {
	Column string
	Bucket Granularity // of a column of time: its period, in place of the value. Whole: the value
}

// Candidate is a primary key to measure.
type Candidate struct {
	Partition  []Part
	Clustering []string // columns
	Added      int      // bytes of a clustering column, behind these, that the data do not have; 0: there is none

	// Shards is the number of shards of write_sharding; 0 and 1: none. By are the
	// columns that are hashed; none: all of Clustering, as in write_sharding; where
	// there are none of these either, the rows are dealt out evenly, as strategy
	// random does.
	Shards int
	By     []string

	// Time is the column that says when a row was written; "": unknown. With it,
	// Measured.Peak is measured, and growth is by time.
	Time string

	// Detail asks for Measured.Detail.
	Detail bool
	// NoPeak leaves Measured.Peak out, and LossAlone all but Lost, Rows and Unkeyed:
	// these take a fraction of the time.
	NoPeak, LossAlone bool

	// InShard says that the layout keeps the bucket of time: the number of the shard tells
	// it, and no column does.
	InShard bool
}

// Measured is what a candidate would do with the data.
type Measured struct {
	Candidate
	Rows int64 // that have the key's columns
	// Unkeyed are rows in which a column of the primary key is null: Cassandra
	// refuses them.
	Unkeyed int64

	Partitions Estimate // physical ones: shards count
	RowSizes   Sizes    // rows of a partition, as they are in the data
	ByteSizes  Sizes    // bytes of a partition, serialized as Cassandra does (before compression)
	RowBytes   float64  // of a row, serialized, without its part of what a partition has beside its rows
	Largest    []Partition
	Lost       Estimate // rows that another overwrites: their whole primary key repeats

	// Squares is the sum over partitions of the square of their rows: what the chance is
	// made of that two rows are in one partition.
	Squares Estimate

	// Course is how many rows came in each of 128 equal parts of the time from the first
	// to the last value of Candidate.Time; Busiest is where one partition is hottest in it.
	// Both are nil without Time, or with shards.
	Course  []int64
	Busiest *Busiest

	Peak   *Peak     // the busiest unit of time of one partition; nil without Time
	Growth []float64 // of the partitions, the share that was begun by each tenth of the rows

	// Tokens are the rows of 4096 equal ranges of tokens under Murmur3Partitioner, from
	// the least up: partitions that are known with their own weight, the others spread
	// evenly.
	Tokens []float64

	Detail *Detail // nil unless it was asked for
	known  []tokenRows
	rest   float64
}

// Sizes are what partitions hold.
type Sizes struct {
	Mean          float64
	P50, P90, P99 Estimate
	Max           Estimate
}

// Partition is a partition of those that have most rows.
type Partition struct {
	Values []string // of the partition key, a bucket as the time it begins
	Shard  int      // 1..Shards; 0 without
	Token  int64
	Rows   Estimate
	Share  float64  // of all rows
	Bytes  Estimate // serialized

	// Over is how many of its rows fell in each sixteenth of the time from the first to
	// the last value of Candidate.Time, or of the rows in their order without it. Where
	// Rows is not exact, some of them are missing at the beginning.
	Over []int64
}

// Peak is the most rows that came for one partition in one unit of time.
type Peak struct {
	Granularity Granularity // the unit: that of the time column, Second at the finest
	Rows        Estimate
	Values      []string // of the partition key
	Shard       int
	Start       time.Time
	// Total is the most rows of all partitions together in one such unit.
	Total Estimate
}

type tokenRows struct {
	token int64
	rows  float64
}
