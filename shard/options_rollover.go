// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math"
	"strconv"
)

// These are the smallest values of Fill. Each shard costs a read one request.
const (
	MinFillRows  = 10
	MinFillBytes = 1024
)

// parseRollover parses and checks the options of strategy Rollover.
func (l *Layout) parseRollover(m map[string]string) (err error) {
	err = l.refuse(m, []meaningless{
		{optionShards, "a key begins with one shard and gets the next one when the present one is full; 'max' bounds them"},
		{optionBy, "a row goes to the shard that is the current one when it is written"},
		{optionHash, "a row goes to the shard that is the current one when it is written"},
		{optionBase, "shards are numbered from 1"},
		{optionEpochs, "each key gets shards as its own rows fill them"},
		{optionRowEpochs, "each key gets shards as its own rows fill them"},
	})
	if err != nil {
		return err
	}
	l.N, l.Max = 1, MaxShards
	if l.Fill.Rows, err = amount(m, optionRows, MinFillRows); err != nil {
		return err
	}
	if l.Fill.Bytes, err = amount(m, optionBytes, MinFillBytes); err != nil {
		return err
	}
	if l.Fill == (Fill{}) {
		return fmt.Errorf("write_sharding: strategy 'rollover' needs to know when a shard is full; add 'rows': '100000', for instance, or 'bytes': '50000000', or both")
	}
	if most, given := m[optionMax]; given {
		if l.Max, err = strconv.Atoi(most); err != nil || l.Max < 2 || l.Max > MaxShards {
			return fmt.Errorf("write_sharding: 'max' is '%s'; it must be a whole number from 2 to %d", most, MaxShards)
		}
	}
	return nil
}

// amount parses an option that counts rows or bytes. It returns 0 if the option is not given.
func amount(m map[string]string, option string, least int64) (int64, error) {
	text, given := m[option]
	if !given {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > math.MaxInt32*1000 {
		return 0, fmt.Errorf("write_sharding: '%s' is '%s'; it must be a whole number, at least %d", option, text, least)
	}
	return n, nil
}

// refuseRolloverOptions returns an error if a layout of another strategy has options of strategy Rollover.
func (l *Layout) refuseRolloverOptions(m map[string]string) error {
	for _, option := range []string{optionRows, optionBytes, optionMax} {
		if _, given := m[option]; given && l.Strategy != Rollover {
			return fmt.Errorf("write_sharding: '%s' means nothing under strategy '%s'; leave it out, or use 'rollover'", option, l.Strategy)
		}
	}
	return nil
}
