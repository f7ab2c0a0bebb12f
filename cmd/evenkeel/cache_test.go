// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"0": 0, "17": 17, "17B": 17, "64MB": 64_000_000, "64 mb": 64_000_000, "64MiB": 64 << 20, "1.5GiB": 3 << 29, "512KB": 512_000, "2GB": 2_000_000_000, "3KiB": 3072,
	} {
		var b byteSize
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: %d %v", text, b, err)
		}
	}
	for _, text := range []string{"", "MB", "-1MB", "64TB", "1e300GB", "NaN", "64 M B", "Inf"} {
		var b byteSize
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %d", text, b)
		}
	}
}
