// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var scalingParameter = regexp.MustCompile(`^(N|L[0-9]+|T[0-9]+|[+-]?[0-9]+)$`)

// leastTarget is the least size in bytes that Cassandra takes as a target, or for flushes.
const leastTarget = 1 << 20

// checkUnified checks the options that only UnifiedCompactionStrategy has.
func checkUnified(c map[string]string) error {
	if text, ok := c["scaling_parameters"]; ok {
		for p := range strings.SplitSeq(text, ",") {
			if err := checkScaling(strings.TrimSpace(p)); err != nil {
				return err
			}
		}
	}
	if err := checkPositive(c, "base_shard_count", 32); err != nil {
		return err
	}
	target := int64(1 << 30)
	for _, of := range []struct {
		option string
		to     *int64
	}{{"target_sstable_size", &target}, {"flush_size_override", new(int64)}} {
		if text, ok := c[of.option]; ok {
			n, certain, err := sizeInBytes(of.option, text)
			switch {
			case err != nil:
				return err
			case certain && n < leastTarget:
				return configError("%s %s is not acceptable, size must be at least %s", of.option, text, shortSize(leastTarget))
			}
			*of.to = n
		}
	}
	if text, ok := c["max_sstables_to_compact"]; ok {
		if _, err := strconv.ParseInt(text, 10, 32); err != nil {
			return notInteger("max_sstables_to_compact", text)
		}
	}
	if err := checkPositive(c, "expired_sstable_check_frequency_seconds", 64); err != nil {
		return err
	}
	if text, ok := c["overlap_inclusion_method"]; ok && !slices.Contains([]string{"NONE", "SINGLE", "TRANSITIVE"}, strings.ToUpper(text)) {
		return configError("Invalid overlap inclusion method %s. The valid options are [NONE, SINGLE, TRANSITIVE].", text)
	}
	if text, ok := c["min_sstable_size"]; ok && !strings.EqualFold(text, "auto") {
		n, _, err := sizeInBytes("min_sstable_size", text)
		if err != nil {
			return err
		}
		if n < 0 {
			return configError("Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)")
		}
		if float64(n) > 0.7*float64(target) {
			return configError("Invalid configuration, min_sstable_size (%s) should be less than 70%% of the targetSSTableSize (%s)", shortSize(n), shortSize(target))
		}
	}
	if text, ok := c["sstable_growth"]; ok {
		number, percent := strings.CutSuffix(text, "%")
		if f, err := strconv.ParseFloat(number, 64); err == nil {
			if percent {
				f /= 100
			}
			if f < 0 || f > 1 {
				return configError("sstable_growth %s must be between 0 and 1", text)
			}
		}
	}
	return nil
}

func checkScaling(text string) error {
	if !scalingParameter.MatchString(text) {
		return configError("Scaling parameter %s must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+", text)
	}
	if n, err := strconv.Atoi(text[1:]); (text[0] == 'L' || text[0] == 'T') && (err != nil || n < 2) {
		return configError("Fan factor cannot be lower than 2 in %s", text)
	}
	return nil
}

func checkPositive(c map[string]string, option string, bits int) error {
	text, ok := c[option]
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, bits)
	switch {
	case err != nil:
		return notInteger(option, text)
	case n <= 0:
		return configError("Invalid configuration, %s should be positive: %d", option, n)
	}
	return nil
}

// byteUnits are the units of sizes in Cassandra. Each is 1,024 times the one before.
var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB"}

// sizeInBytes parses a size such as 512 MiB. It returns an error if Cassandra surely refuses the text. If
// it cannot parse a text that Cassandra may accept, it returns certain as false.
func sizeInBytes(option, text string) (n int64, certain bool, err error) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasSuffix(trimmed, "B") {
		return 0, false, configError("%s %s is not a valid size in bytes: %s does not end in unit B", option, text, text)
	}
	for i, unit := range slices.Backward(byteUnits) {
		if number, ok := strings.CutSuffix(trimmed, unit); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return 0, false, nil
			}
			return int64(f * float64(int64(1)<<(10*i))), true, nil
		}
	}
	return 0, false, nil
}

// shortSize formats a size as Cassandra does.
func shortSize(n int64) string {
	f, i := float64(n), 0
	for ; f >= 1024 && i < len(byteUnits)-1; i++ {
		f /= 1024
	}
	return strconv.FormatFloat(f, 'f', 3, 64) + byteUnits[i]
}
