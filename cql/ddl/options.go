// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// The options of a table, as in schema.Table.Options: by the column of system_schema.tables, with
// values of type string, int, float64, bool, map[string]string or map[string][]byte. An absent
// option is null there. CustomProperties and Tags are not columns there.

// DefaultOptions returns the options of a table whose statement gives none.
func DefaultOptions() map[string]any {
	return map[string]any{
		"additional_write_policy":     "99p",
		"bloom_filter_fp_chance":      0.01,
		"caching":                     map[string]string{"keys": "ALL", "rows_per_partition": "NONE"},
		"comment":                     "",
		"compaction":                  defaultCompaction(),
		"compression":                 map[string]string{"chunk_length_in_kb": "16", "class": compressors + "LZ4Compressor"},
		"crc_check_chance":            1.0,
		"dclocal_read_repair_chance":  0.0,
		"default_time_to_live":        0,
		"extensions":                  map[string][]byte{},
		"gc_grace_seconds":            864000,
		"max_index_interval":          2048,
		"memtable_flush_period_in_ms": 0,
		"min_index_interval":          128,
		"read_repair":                 "BLOCKING",
		"read_repair_chance":          0.0,
		"speculative_retry":           "99p",
	}
}

func tableProperty(name string) bool {
	switch name {
	case "additional_write_policy", "allow_auto_snapshot", "bloom_filter_fp_chance", "caching", "cdc",
		"comment", "compaction", "compression", "crc_check_chance", "default_time_to_live", "extensions",
		"gc_grace_seconds", "id", "incremental_backups", "max_index_interval", "memtable",
		"memtable_flush_period_in_ms", "min_index_interval", "read_repair", "speculative_retry":
		return true
	}
	return false
}

// tableOptions reads a table's options over those that it has (nil for a new one). checkOptions
// checks their ranges, because Cassandra does so later.
func tableOptions(p *properties, before map[string]any) (map[string]any, error) {
	o := maps.Clone(before)
	if before == nil {
		o = DefaultOptions()
	}
	for _, read := range []func(*properties, map[string]any) error{
		readFlags, readCaching, readText, readCompaction, readCompression, readNumbers, readRetries,
	} {
		if err := read(p, o); err != nil {
			return nil, err
		}
	}
	if before == nil && !p.has("bloom_filter_fp_chance") {
		c := o["compaction"].(map[string]string)
		if strings.HasSuffix(c["class"], ".LeveledCompactionStrategy") {
			o["bloom_filter_fp_chance"] = 0.1
		}
	}
	return o, nil
}

// readFlags reads the options that are shown as null if they have their default.
func readFlags(p *properties, o map[string]any) error {
	for _, f := range []struct {
		name string
		def  bool
	}{{"allow_auto_snapshot", true}, {"incremental_backups", true}, {"cdc", false}} {
		v, ok, err := p.bool(f.name)
		if err != nil {
			return err
		}
		if ok && v == f.def {
			delete(o, f.name)
		} else if ok {
			o[f.name] = v
		}
	}
	return nil
}

func readCaching(p *properties, o map[string]any) error {
	pairs, ok, err := p.pairs("caching")
	if err != nil || !ok {
		return err
	}
	caching := map[string]string{"keys": "ALL", "rows_per_partition": "NONE"}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if name != "keys" && name != "rows_per_partition" {
			return configError("Invalid caching sub-options [%s]: only 'keys' and 'rows_per_partition' are allowed", name)
		}
	}
	if keys, ok := pairs["keys"]; ok {
		caching["keys"] = strings.ToUpper(keys)
		if u := caching["keys"]; u != "ALL" && u != "NONE" {
			return configError("Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed", keys)
		}
	}
	if rows, ok := pairs["rows_per_partition"]; ok {
		caching["rows_per_partition"] = strings.ToUpper(rows)
		if u := caching["rows_per_partition"]; u != "ALL" && u != "NONE" && !digits(u) {
			return configError("Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed", rows)
		}
	}
	o["caching"] = caching
	return nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func readText(p *properties, o map[string]any) error {
	if v, ok, err := p.string("comment"); err != nil {
		return err
	} else if ok {
		o["comment"] = v
	}
	if v, ok, err := p.string("memtable"); err != nil {
		return err
	} else if ok && v != "default" {
		return configError("Memtable configuration \"%s\" not found.", v)
	}
	if _, _, err := p.pairs("extensions"); err != nil {
		return err
	}
	if v, ok, err := p.string("read_repair"); err != nil {
		return err
	} else if ok {
		u := strings.ToUpper(v)
		if u != "BLOCKING" && u != "NONE" {
			return configError("Invalid value %s for option 'read_repair': only 'BLOCKING' and 'NONE' are allowed", v)
		}
		o["read_repair"] = u
	}
	return nil
}

func readNumbers(p *properties, o map[string]any) error {
	for _, name := range []string{"bloom_filter_fp_chance", "crc_check_chance"} {
		if v, ok, err := p.double(name); err != nil {
			return err
		} else if ok {
			o[name] = v
		}
	}
	for _, name := range []string{"default_time_to_live", "gc_grace_seconds", "max_index_interval",
		"memtable_flush_period_in_ms", "min_index_interval"} {
		if v, ok, err := p.int(name); err != nil {
			return err
		} else if ok {
			o[name] = v
		}
	}
	return nil
}

func readRetries(p *properties, o map[string]any) error {
	for _, name := range []string{"speculative_retry", "additional_write_policy"} {
		v, ok, err := p.string(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		policy, valid := retryPolicy(v)
		if !valid {
			return retryError(v)
		}
		o[name] = policy
	}
	return nil
}

// retryError returns the error for a wrong speculative retry policy.
func retryError(v string) error {
	if percentile(v) {
		return configError("Invalid value %s for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)", v)
	}
	u := strings.ToUpper(strings.TrimSpace(v))
	if u, ok := strings.CutSuffix(u, ")"); ok && (strings.HasPrefix(u, "MIN(") || strings.HasPrefix(u, "MAX(")) {
		a, b, _ := strings.Cut(u[len("MIN("):], ",")
		pa, oka := retryPoint(strings.TrimSpace(a))
		pb, okb := retryPoint(strings.TrimSpace(b))
		if oka && okb && strings.HasSuffix(pa, "p") && strings.HasSuffix(pb, "p") {
			return configError("Invalid value %s for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type PERCENTILE", v)
		}
	}
	return configError("Invalid value %s for option 'speculative_retry'", v)
}

// retryPolicy returns a speculative retry policy in the form in which Cassandra keeps it: 99p,
// 10ms, MIN(99p,50ms), ALWAYS, NEVER.
func retryPolicy(s string) (string, bool) {
	u := strings.ToUpper(strings.TrimSpace(s))
	switch u {
	case "ALWAYS":
		return u, true
	case "NEVER", "NONE":
		return "NEVER", true
	}
	for _, f := range []string{"MIN(", "MAX("} {
		if rest, ok := strings.CutPrefix(u, f); ok {
			rest, closed := strings.CutSuffix(rest, ")")
			a, b, two := strings.Cut(rest, ",")
			pa, oka := retryPoint(strings.TrimSpace(a))
			pb, okb := retryPoint(strings.TrimSpace(b))
			if strings.HasSuffix(pb, "p") {
				pa, pb = pb, pa // the percentile comes first
			}
			return f + pa + "," + pb + ")", closed && two && oka && okb && strings.HasSuffix(pa, "p") != strings.HasSuffix(pb, "p")
		}
	}
	return retryPoint(u)
}

// percentile reports whether a policy is written as a percentile, whatever its value.
func percentile(s string) bool {
	u := strings.ToUpper(strings.TrimSpace(s))
	number, ok := strings.CutSuffix(strings.TrimSuffix(u, "ERCENTILE"), "P")
	return ok && number != "" && strings.Trim(number, "0123456789.") == ""
}

// retryPoint parses 99P, 99PERCENTILE or 10MS.
func retryPoint(u string) (string, bool) {
	for _, unit := range []struct{ suffix, canonical string }{{"PERCENTILE", "p"}, {"P", "p"}, {"MS", "ms"}} {
		number, ok := strings.CutSuffix(u, unit.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || f < 0 || unit.canonical == "p" && (f <= 0 || f >= 100) {
			return "", false
		}
		if unit.canonical == "ms" {
			f = math.Trunc(f)
		}
		n := strconv.FormatFloat(f, 'f', 4, 64)
		return strings.TrimSuffix(strings.TrimRight(n, "0"), ".") + unit.canonical, true
	}
	return "", false
}

// checkOptions checks the ranges of a table's options.
func checkOptions(o map[string]any) error {
	if err := checkCompaction(o["compaction"].(map[string]string)); err != nil {
		return err
	}
	const lowest = 6.71e-5
	if b := o["bloom_filter_fp_chance"].(float64); !(b > lowest && b <= 1) {
		return configError("bloom_filter_fp_chance must be larger than %s and less than or equal to 1.0 (got %s)", value.JavaDouble(lowest), value.JavaDouble(b))
	}
	if c := o["crc_check_chance"].(float64); !(c >= 0 && c <= 1) {
		return configError("crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got %s)", value.JavaDouble(c))
	}
	if err := atLeast(o, "default_time_to_live", 0); err != nil {
		return err
	}
	const maxTTL = 20 * 365 * 24 * 60 * 60
	if ttl := o["default_time_to_live"].(int); ttl > maxTTL {
		return configError("default_time_to_live must be less than or equal to %d (got %d)", maxTTL, ttl)
	}
	for _, name := range []string{"gc_grace_seconds"} {
		if err := atLeast(o, name, 0); err != nil {
			return err
		}
	}
	if err := atLeast(o, "min_index_interval", 1); err != nil {
		return err
	}
	if low, high := o["min_index_interval"].(int), o["max_index_interval"].(int); high < low {
		return configError("max_index_interval must be greater than or equal to min_index_interval (%d) (got %d)", low, high)
	}
	return atLeast(o, "memtable_flush_period_in_ms", 0)
}

func atLeast(o map[string]any, name string, low int) error {
	if n := o[name].(int); n < low {
		return configError("%s must be greater than or equal to %d (got %d)", name, low, n)
	}
	return nil
}
