// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"strings"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// BucketColumn is a column of the partition key that the application writes: the beginning, in UTC,
// of the period that contains Of. A design has one if write_sharding's strategy time cannot keep
// its bucket.
type BucketColumn struct {
	Name string `json:"name"`
	Of   string `json:"of"`
	Type string `json:"type"`
	Unit string `json:"unit"`
}

// bucketColumnOf returns the column that a bucket adds to the table; nil if the design has no
// bucket or the layout keeps it.
func (s *facts) bucketColumnOf(d *Design) *BucketColumn {
	b := d.bucket()
	if b == nil || s.timed(d) {
		return nil
	}
	name := strings.ToLower(b.Column) + "_" + b.Bucket.String()
	for s.p.Column(name) != nil {
		name += "_bucket"
	}
	typ := "date"
	if b.Bucket < profile.Day {
		typ = "timestamp"
	}
	return &BucketColumn{Name: name, Of: b.Column, Type: typ, Unit: b.Bucket.String()}
}

// meaning says what a bucket's column holds.
func (s *facts) meaning(b *BucketColumn) string {
	if s.p.Column(b.Of).Made != nil {
		return fmt.Sprintf("%s is the beginning, in UTC, of the %s in which %s was made", b.Name, b.Unit, b.Of)
	}
	return fmt.Sprintf("%s is the beginning of the %s that %s is in, in UTC", b.Name, b.Unit, b.Of)
}

// timed reports whether write_sharding's strategy time can keep a design's bucket. It can if the
// bucket's column is the first clustering column, if that column has a type that holds a time, and
// if a shard depends on the whole clustering key. Then no statement names the bucket.
func (s *facts) timed(d *Design) bool {
	b := d.bucket()
	if b == nil || !s.o.Target.nodes() || len(d.columns()) == 0 || len(d.Clustering) == 0 || d.Clustering[0] != b.Column || len(d.By) > 0 {
		return false
	}
	switch typeOf(s.p.Column(b.Column)) {
	case "timestamp", "timeuuid":
		return true
	case "date":
		return b.Bucket >= profile.Day
	}
	return false
}

// logical returns a design with its primary key as the application sees it: without the bucket that
// the layout keeps.
func (s *facts) logical(d *Design) *Design {
	if !s.timed(d) {
		return d
	}
	out := *d
	out.Partition = wholes(d.columns())
	return &out
}

// strategy returns the write_sharding strategy of a design, or "none".
func (s *facts) strategy(d *Design) string {
	if s.timed(d) {
		return shard.Time.String()
	}
	return d.Strategy()
}

// keyOf formats a design's primary key as the table declares it, with the buckets that the layout
// keeps.
func (s *facts) keyOf(d *Design) string {
	if !s.timed(d) {
		return d.Key()
	}
	return fmt.Sprintf("%s in buckets of %s", s.logical(d).Key(), widthOf(d.bucket().Bucket))
}

// nameOf formats a design's key, as keyOf does, and its shards.
func (s *facts) nameOf(d *Design) string {
	if !s.timed(d) {
		return d.String()
	}
	t := s.keyOf(d)
	if d.Shards > 1 {
		t += fmt.Sprintf(", each in %d shards", d.Shards)
	}
	return t
}

// keepText returns the advice to set 'keep', which drops whole buckets of rows that expire anyway;
// "" if no rows expire or the layout keeps no buckets.
func (s *traffic) keepText(d *Design) string {
	if s.load.ttl == 0 || !s.timed(d) {
		return ""
	}
	width := widthOf(d.bucket().Bucket)
	keep := (timebucket.Width(math.Ceil(s.load.ttl))*timebucket.Second + width - 1) / width * width
	return fmt.Sprintf("rows expire after %s: with 'keep': '%s' in write_sharding, the doors drop whole buckets instead, and refuse rows whose %s is older", capacity.Duration(s.load.ttl), keep, d.bucket().Column)
}

// widthOf returns the width of a layout's buckets for a period. Widths are fixed: a month is 30
// days, a year 365 days.
func widthOf(g profile.Granularity) timebucket.Width {
	switch g {
	case profile.Year:
		return 365 * timebucket.Day
	case profile.Month:
		return 30 * timebucket.Day
	case profile.Day:
		return timebucket.Day
	case profile.Hour:
		return timebucket.Hour
	}
	return timebucket.Minute
}
