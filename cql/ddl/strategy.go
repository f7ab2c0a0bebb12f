// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/value"
)

// strategyCheck checks the value of one option of a compaction strategy.
type strategyCheck struct {
	option string
	check  func(option, text string) error
}

// everyStrategyChecks are the checks for all strategies, in Cassandra's order.
var everyStrategyChecks = []strategyCheck{
	{"enabled", func(option, text string) error {
		if text != "true" && text != "false" {
			return configError("%s should either be 'true' or 'false', not %s", option, text)
		}
		return nil
	}},
	{"tombstone_threshold", func(option, text string) error {
		f, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return notInteger(option, text)
		case f < 0:
			return configError("%s must be greater than 0, but was %f", option, f)
		}
		return nil
	}},
	{"tombstone_compaction_interval", func(option, text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return notInteger(option, text)
		case n < 0:
			return configError("%s must be greater than 0, but was %d", option, n)
		}
		return nil
	}},
	{"unchecked_tombstone_compaction", func(option, text string) error {
		if text != "true" && text != "false" {
			return configError("'%s' should be either 'true' or 'false', not '%s'", option, text)
		}
		return nil
	}},
}

func notInteger(option, text string) error {
	return configError("%s is not a parsable int (base10) for %s", text, option)
}

// checkStrategy checks the values of the options of a compaction strategy.
func checkStrategy(name string, c map[string]string) error {
	for _, s := range everyStrategyChecks {
		if text, ok := c[s.option]; ok {
			if err := s.check(s.option, text); err != nil {
				return err
			}
		}
	}
	switch name {
	case "UnifiedCompactionStrategy":
		return checkUnified(c)
	case "LeveledCompactionStrategy":
		if err := checkLevels(c); err != nil {
			return err
		}
	case "TimeWindowCompactionStrategy":
		if err := checkWindows(c); err != nil {
			return err
		}
	}
	return checkTiers(c)
}

// checkLevels checks the options that only LeveledCompactionStrategy has.
func checkLevels(c map[string]string) error {
	of := map[string]int64{"sstable_size_in_mb": 160, "fanout_size": 10}
	for _, option := range []string{"sstable_size_in_mb", "fanout_size"} {
		text, ok := c[option]
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil:
			return notInteger(option, text)
		case n < 1:
			return configError("%s must be larger than 0, but was %d", option, n)
		}
		of[option] = n
	}
	// The size of the last of nine levels.
	bytes := new(big.Int).Exp(big.NewInt(of["fanout_size"]), big.NewInt(8), nil)
	if bytes.Mul(bytes, big.NewInt(of["sstable_size_in_mb"]<<20)); !bytes.IsInt64() {
		return configError("At most 9223372036854775807 bytes may be in a compaction level; your maxSSTableSize must be absurdly high to compute %s", bytes)
	}
	return nil
}

// checkWindows checks the options that only TimeWindowCompactionStrategy has.
func checkWindows(c map[string]string) error {
	units := []string{"NANOSECONDS", "MICROSECONDS", "MILLISECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS"}
	for _, of := range []struct {
		option string
		units  []string
	}{{"timestamp_resolution", units}, {"compaction_window_unit", units[4:]}} {
		if text, ok := c[of.option]; ok && !slices.Contains(of.units, text) {
			return configError("%s is not valid for %s", text, of.option)
		}
	}
	if text, ok := c["compaction_window_size"]; ok {
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil:
			return notInteger("compaction_window_size", text)
		case n < 1:
			return configError("%d must be greater than 1 for compaction_window_size", n)
		}
	}
	return nil
}

// checkTiers checks the options of SizeTieredCompactionStrategy and of the strategies built on it.
func checkTiers(c map[string]string) error {
	if text, ok := c["min_sstable_size"]; ok {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return notInteger("min_sstable_size", text)
		case n < 0:
			return configError("min_sstable_size must be non negative: %d", n)
		}
	}
	low, high := 0.5, 1.5
	for _, of := range []struct {
		option string
		to     *float64
	}{{"bucket_low", &low}, {"bucket_high", &high}} {
		if text, ok := c[of.option]; ok {
			var err error
			if *of.to, err = strconv.ParseFloat(text, 64); err != nil {
				return configError("%s is not a parsable float for %s", text, of.option)
			}
		}
	}
	if high <= low {
		return configError("bucket_high value (%s) is less than or equal to the bucket_low value (%s)", value.JavaDouble(high), value.JavaDouble(low))
	}
	return nil
}
