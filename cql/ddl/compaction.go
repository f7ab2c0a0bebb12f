// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	compactions = "org.apache.cassandra.db.compaction."
	compressors = "org.apache.cassandra.io.compress."
)

func defaultCompaction() map[string]string {
	return map[string]string{"class": compactions + "SizeTieredCompactionStrategy", "max_threshold": "32", "min_threshold": "4"}
}

// strategyOptions are the options of each compaction strategy beyond those of all strategies.
var strategyOptions = func() map[string][]string {
	tiered := []string{"bucket_high", "bucket_low", "max_threshold", "min_sstable_size", "min_threshold"}
	return map[string][]string{
		"SizeTieredCompactionStrategy": tiered,
		"LeveledCompactionStrategy":    append([]string{"fanout_size", "single_sstable_uplevel", "sstable_size_in_mb"}, tiered...),
		"TimeWindowCompactionStrategy": append([]string{"compaction_window_size", "compaction_window_unit", "expired_sstable_check_frequency_seconds",
			"timestamp_resolution", "unsafe_aggressive_sstable_expiration"}, tiered...),
		"UnifiedCompactionStrategy": {"base_shard_count", "expired_sstable_check_frequency_seconds", "flush_size_override", "max_sstables_to_compact",
			"min_sstable_size", "overlap_inclusion_method", "parallelize_output_shards", "scaling_parameters", "sstable_growth", "target_sstable_size",
			"unsafe_aggressive_sstable_expiration"},
	}
}()

var everyStrategyOptions = []string{"class", "enabled", "log_all", "only_purge_repaired_tombstones", "provide_overlapping_tombstones",
	"tombstone_compaction_interval", "tombstone_threshold", "unchecked_tombstone_compaction"}

func readCompaction(p *properties, o map[string]any) error {
	pairs, ok, err := p.pairs("compaction")
	if err != nil || !ok {
		return err
	}
	class := pairs["class"]
	if class == "" {
		return configError("Missing sub-option 'class' for the 'compaction' option")
	}
	name := strings.TrimPrefix(class, compactions)
	if strategyOptions[name] == nil {
		if !strings.Contains(class, ".") {
			class = compactions + class
		}
		return configError("Unable to find compaction strategy class '%s'", class)
	}
	c := maps.Clone(pairs)
	c["class"] = compactions + name
	if slices.Contains(strategyOptions[name], "min_threshold") {
		setDefault(c, "min_threshold", "4")
		setDefault(c, "max_threshold", "32")
	}
	o["compaction"] = c
	return nil
}

func setDefault(m map[string]string, key, value string) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}

// checkCompaction checks the options of a compaction strategy. They have no effect here, but a
// mistake would be an error in any other database in which the table is created.
func checkCompaction(c map[string]string) error {
	name := strings.TrimPrefix(c["class"], compactions)
	if err := checkStrategy(name, c); err != nil {
		return err
	}
	var unknown []string
	for _, option := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(everyStrategyOptions, option) && !slices.Contains(strategyOptions[name], option) {
			unknown = append(unknown, option)
		}
	}
	if len(unknown) > 0 {
		return configError("Properties specified [%s] are not understood by %s", strings.Join(unknown, ", "), name)
	}
	if _, ok := c["min_threshold"]; !ok {
		return nil
	}
	low, err := thresholdOf(c, "min_threshold")
	if err != nil {
		return err
	}
	high, err := thresholdOf(c, "max_threshold")
	if err != nil {
		return err
	}
	if low < 2 {
		return configError("Min compaction threshold cannot be less than 2 (got %d)", low)
	}
	if low > high {
		return configError("Min compaction threshold (got %d) cannot be greater than max compaction threshold (got %d)", low, high)
	}
	return nil
}

func thresholdOf(c map[string]string, name string) (int, error) {
	n, err := strconv.ParseInt(c[name], 10, 32)
	if err != nil {
		return 0, configError("Invalid value %s for '%s' compaction sub-option - must be an integer", c[name], name)
	}
	return int(n), nil
}
