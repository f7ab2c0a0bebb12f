// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// compressorOptions are the options of each compressor beyond those of all.
var compressorOptions = map[string][]string{
	"LZ4Compressor":     {"lz4_compressor_type", "lz4_high_compressor_level"},
	"SnappyCompressor":  nil,
	"DeflateCompressor": nil,
	"ZstdCompressor":    {"compression_level"},
	"NoopCompressor":    nil,
}

func readCompression(p *properties, o map[string]any) error {
	pairs, ok, err := p.pairs("compression")
	if err != nil || !ok {
		return err
	}
	c := maps.Clone(pairs)
	delete(c, "enabled")
	if enabled, given := pairs["enabled"]; len(pairs) == 0 || given && !strings.EqualFold(enabled, "true") {
		if len(c) > 0 {
			return configError("If the 'enabled' option is set to false no other options must be specified")
		}
		o["compression"] = map[string]string{"enabled": "false"}
		return nil
	}
	class, ok := c["class"]
	switch {
	case !ok:
		return configError("Missing sub-option 'class' for the 'compression' option.")
	case class == "":
		return configError("The 'class' option must not be empty. To disable compression use 'enabled' : false")
	}
	chunk, ratio, err := readChunks(c)
	if err != nil {
		return err
	}
	if err := checkCompressor(c); err != nil {
		return err
	}
	switch {
	case chunk <= 0:
		return configError("Invalid negative or null chunk_length_in_kb")
	case bits.OnesCount64(uint64(chunk)) != 1:
		return configError("chunk_length_in_kb must be a power of 2")
	case ratio < 0:
		return configError("Invalid negative min_compress_ratio")
	case ratio > 0 && ratio < 1:
		return configError("min_compress_ratio can either be 0 or greater than or equal to 1")
	}
	o["compression"] = c
	return nil
}

// readChunks reads the numbers of all compressors, and writes them into c as Cassandra shows them.
func readChunks(c map[string]string) (chunk int64, ratio float64, err error) {
	setDefault(c, "chunk_length_in_kb", "16")
	if chunk, err = strconv.ParseInt(c["chunk_length_in_kb"], 10, 32); err != nil {
		return 0, 0, configError("Invalid value for chunk_length_in_kb")
	}
	if chunk > math.MaxInt32>>10 {
		return 0, 0, configError("Value of chunk_length_in_kb is too large (%d)", chunk)
	}
	c["chunk_length_in_kb"] = strconv.FormatInt(chunk, 10)
	text, ok := c["min_compress_ratio"]
	if !ok {
		return chunk, 0, nil
	}
	if ratio, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(ratio) {
		return 0, 0, configError("Invalid value %s for min_compress_ratio - must be a number", text)
	}
	if delete(c, "min_compress_ratio"); ratio != 0 {
		if text = strconv.FormatFloat(ratio, 'f', -1, 64); !strings.Contains(text, ".") {
			text += ".0"
		}
		c["min_compress_ratio"] = text
	}
	return chunk, ratio, nil
}

// checkCompressor completes the name of the class, and checks its own options.
func checkCompressor(c map[string]string) error {
	class := c["class"]
	name := strings.TrimPrefix(class, compressors)
	own, ok := compressorOptions[name]
	if !ok {
		if !strings.Contains(class, ".") {
			class = compressors + class
		}
		return configError("Could not create Compression for type %s", class)
	}
	c["class"] = compressors + name
	switch name {
	case "ZstdCompressor":
		if text, ok := c["compression_level"]; ok {
			const low, high = -131072, 22
			level, err := strconv.ParseInt(text, 10, 32)
			switch {
			case err != nil:
				return configError("ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input string: \"%s\"", text)
			case level < low || level > high:
				return configError("ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException compression_level=%d is invalid", level)
			}
		}
	case "LZ4Compressor":
		if typ, ok := c["lz4_compressor_type"]; ok && typ != "high" && typ != "fast" {
			return configError("Invalid compressor type '%s' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are [high, fast].", typ)
		}
		if text, ok := c["lz4_high_compressor_level"]; ok {
			if level, err := strconv.ParseInt(text, 10, 32); err != nil || level < 1 || level > 17 {
				return configError("Invalid value [%s] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17.", text)
			}
		}
	}
	for _, option := range slices.Sorted(maps.Keys(c)) {
		switch option {
		case "class", "chunk_length_in_kb", "min_compress_ratio":
		default:
			if !slices.Contains(own, option) {
				return configError("Unknown compression options %s", option)
			}
		}
	}
	return nil
}
