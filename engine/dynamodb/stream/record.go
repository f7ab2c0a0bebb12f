// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/schema"
)

const (
	ShardLife = 4 * time.Hour
	Life      = 24 * time.Hour
)

// record is the description of a stream as it is stored, as JSON. It is replaced, never changed.
type record struct {
	ID       uint32
	ARN      string
	Label    string
	Table    string
	Key      schema.Key
	View     string
	Created  time.Time
	Disabled time.Time // zero while the stream is enabled
	Shards   []shard
	Trimmed  uint64 // changes up to this number are removed
}

// shard is the range of changes from First to the beginning of the next shard.
type shard struct {
	First   uint64
	Created time.Time
}

// id returns a shard's name, which has the form and length of AWS's names.
func (r *record) id(i int) string {
	sh := r.Shards[i]
	return fmt.Sprintf("shardId-%020d-%08x", sh.Created.UnixMilli(), uint32(sh.First)^r.ID<<16)
}

// end returns the number at which the changes of a shard end, and whether the shard is closed.
func (r *record) end(i int) (end uint64, closed bool) {
	if i+1 < len(r.Shards) {
		return r.Shards[i+1].First, true
	}
	return 0, false
}

func (r *record) enabled() bool { return r.Disabled.IsZero() }
