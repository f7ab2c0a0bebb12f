// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// Design is a primary key and its sharding.
type Design struct {
	Partition  []profile.Part
	Clustering []string
	Desc       []bool // of each clustering column: true is descending
	AddID      bool   // no columns tell rows apart: a timeuuid is added behind Clustering
	Shards     int    // 1: no shards
	By         []string

	bare bool // the queries' own key, which loses rows
}

// Strategy returns the write_sharding strategy, or "none".
func (d *Design) Strategy() string {
	switch {
	case d.Shards <= 1:
		return "none"
	case len(d.Clustering) == 0 && !d.AddID:
		return "random"
	}
	return "calculated"
}

// columns returns the partition key's columns, without the columns of buckets.
func (d *Design) columns() []string {
	out := []string{}
	for _, p := range d.Partition {
		if p.Bucket == profile.Whole {
			out = append(out, p.Column)
		}
	}
	return out
}

// bucket returns the time bucket of the partition key; nil: there is none.
func (d *Design) bucket() *profile.Part {
	for i := range d.Partition {
		if d.Partition[i].Bucket != profile.Whole {
			return &d.Partition[i]
		}
	}
	return nil
}

// candidate returns the candidate that package profile measures for this design.
func (d *Design) candidate(time string) profile.Candidate {
	c := profile.Candidate{Partition: d.Partition, Clustering: d.Clustering, Time: time}
	if d.AddID {
		c.Added = 16
	}
	if d.Shards > 1 {
		c.Shards, c.By = d.Shards, d.By
		if d.AddID && len(d.By) == 0 {
			c.Clustering = nil // each row has a new id, which spreads the rows evenly
		}
	}
	return c
}

// partName formats a part of the partition key: device, or day(at).
func partName(p profile.Part) string {
	if p.Bucket == profile.Whole {
		return p.Column
	}
	return fmt.Sprintf("%s(%s)", p.Bucket, p.Column)
}

// Key formats the primary key for people: ((device, day(at)), at DESC, id).
func (d *Design) Key() string {
	var parts []string
	for _, p := range d.Partition {
		parts = append(parts, partName(p))
	}
	s := strings.Join(parts, ", ")
	if len(parts) > 1 || len(d.Clustering) > 0 || d.AddID {
		s = "(" + s + ")"
	}
	for i, c := range d.Clustering {
		s += ", " + c
		if i < len(d.Desc) && d.Desc[i] {
			s += " DESC"
		}
	}
	if d.AddID {
		s += ", " + idColumn
	}
	if len(d.Clustering) > 0 || d.AddID {
		s = "(" + s + ")"
	}
	return s
}

// String formats Key and the shards.
func (d *Design) String() string {
	s := d.Key()
	if d.Shards > 1 {
		s += fmt.Sprintf(" in %d shards", d.Shards)
		if len(d.By) > 0 && !slices.Equal(d.By, d.Clustering) {
			s += " by " + strings.Join(d.By, ", ")
		}
	}
	return s
}

// partitionID returns a text that identifies a partition key.
func partitionID(parts []profile.Part) string {
	if len(parts) == 1 {
		return partOf(parts[0])
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = partOf(p)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func partOf(p profile.Part) string {
	return string(strconv.AppendUint(append(strconv.AppendQuote(nil, p.Column), '/'), uint64(p.Bucket), 10))
}

// id returns a text that identifies a design.
func (d *Design) id() string {
	return fmt.Sprintf("%s|%q|%v|%t|%d|%q", partitionID(d.Partition), d.Clustering, d.Desc, d.AddID, d.Shards, d.By)
}

// idColumn is the name of the column that is added if no columns tell rows apart.
const idColumn = "row_id"

// bucketText formats a bucket as a CQL duration.
func bucketText(g profile.Granularity) string {
	return map[profile.Granularity]string{
		profile.Second: "1s", profile.Minute: "1m", profile.Hour: "1h", profile.Day: "1d", profile.Month: "1mo", profile.Year: "1y",
	}[g]
}

// seconds returns the average length of a period.
func seconds(g profile.Granularity) float64 {
	return map[profile.Granularity]float64{
		profile.Second: 1, profile.Minute: 60, profile.Hour: 3600, profile.Day: 86400, profile.Month: 30.44 * 86400, profile.Year: 365.25 * 86400,
	}[g]
}
