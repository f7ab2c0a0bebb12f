// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"

	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// parseTime parses and checks the options of strategy Time.
func (l *Layout) parseTime(m map[string]string) (err error) {
	err = l.refuse(m, []meaningless{
		{optionHash, "in a bucket it is murmur3"},
		{optionBase, "shards are numbered by their bucket"},
		{optionEpochs, "each key has the same shards in each bucket"},
		{optionRowEpochs, "buckets are epochs of rows already"},
	})
	if err != nil {
		return err
	}
	if len(l.By) != 1 {
		return fmt.Errorf("write_sharding: strategy 'time' needs the one column that tells the time; add 'by': '…', the first clustering column")
	}
	width, given := m[optionBucket]
	if !given {
		return fmt.Errorf("write_sharding: strategy 'time' needs the length of a bucket; add 'bucket': '1h', for instance")
	}
	if l.Width, err = timebucket.Parse(width); err != nil {
		return fmt.Errorf("write_sharding: 'bucket': %w", err)
	}
	if err := l.Grid().Check(); err != nil {
		return fmt.Errorf("write_sharding: %w", err)
	}
	keep, given := m[optionKeep]
	if !given {
		return nil
	}
	if l.Keep, err = timebucket.Parse(keep); err != nil {
		return fmt.Errorf("write_sharding: 'keep': %w", err)
	}
	if l.Keep < l.Width {
		return fmt.Errorf("write_sharding: 'keep' is %s, shorter than a bucket, which is %s: whole buckets are dropped; take a longer 'keep', or shorter buckets", l.Keep, l.Width)
	}
	return nil
}

// refuseTimeOptions returns an error if a layout of another strategy has options of strategy Time.
func (l *Layout) refuseTimeOptions(m map[string]string) error {
	for _, option := range []string{optionBucket, optionKeep} {
		if _, given := m[option]; given && l.Strategy != Time {
			return fmt.Errorf("write_sharding: '%s' means nothing under strategy '%s'; leave it out, or use 'time'", option, l.Strategy)
		}
	}
	return nil
}
