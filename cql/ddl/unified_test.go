// SPDX-License-Identifier: Apache-2.0

package ddl

import "testing"

// TestUnified compares the checks of UnifiedCompactionStrategy's options with the answers of
// Cassandra 5.0.
func TestUnified(t *testing.T) {
	for _, c := range []struct{ option, value, want string }{
		{"scaling_parameters", "X9", "Scaling parameter X9 must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+"},
		{"scaling_parameters", "T4, T1", "Fan factor cannot be lower than 2 in T1"},
		{"scaling_parameters", "T4, N, L10, -3, +2", ""},
		{"target_sstable_size", "1", "target_sstable_size 1 is not a valid size in bytes: 1 does not end in unit B"},
		{"target_sstable_size", "512 MiB", ""},
		{"target_sstable_size", "1B", "target_sstable_size 1B is not acceptable, size must be at least 1.000MiB"},
		{"target_sstable_size", "1MiB", ""},
		{"base_shard_count", "-1", "Invalid configuration, base_shard_count should be positive: -1"},
		{"base_shard_count", "4", ""},
		{"min_sstable_size", "10GiB", "Invalid configuration, min_sstable_size (10.000GiB) should be less than 70% of the targetSSTableSize (1.000GiB)"},
		{"min_sstable_size", "100MiB", ""},
		{"min_sstable_size", "-1B", "Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)"},
		{"sstable_growth", "3", "sstable_growth 3 must be between 0 and 1"},
		{"sstable_growth", "0.333", ""},
		{"flush_size_override", "x", "flush_size_override x is not a valid size in bytes: x does not end in unit B"},
		{"flush_size_override", "10KiB", "flush_size_override 10KiB is not acceptable, size must be at least 1.000MiB"},
		{"max_sstables_to_compact", "x", "x is not a parsable int (base10) for max_sstables_to_compact"},
		{"overlap_inclusion_method", "x", "Invalid overlap inclusion method x. The valid options are [NONE, SINGLE, TRANSITIVE]."},
		{"expired_sstable_check_frequency_seconds", "0", "Invalid configuration, expired_sstable_check_frequency_seconds should be positive: 0"},
	} {
		got := ""
		if err := checkCompaction(map[string]string{"class": compactions + "UnifiedCompactionStrategy", c.option: c.value}); err != nil {
			got = err.Error()
		}
		want := c.want
		if want != "" {
			want = configError("%s", want).Error()
		}
		if got != want {
			t.Errorf("%s = %q:\n got %s\nwant %s", c.option, c.value, got, want)
		}
	}
}

// TestRetryPoliciesOfOneKind compares the error for a speculative_retry function of two points of
// one kind with the answer of Cassandra 5.0.
func TestRetryPoliciesOfOneKind(t *testing.T) {
	const want = "Invalid value min(99p,98p) for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type PERCENTILE"
	if got := retryError("min(99p,98p)").Error(); got != configError("%s", want).Error() {
		t.Errorf("got %s", got)
	}
}
