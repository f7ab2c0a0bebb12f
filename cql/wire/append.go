// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"maps"
	"math"
	"net/netip"
	"slices"
)

// The Append functions write the protocol's primitives (native_protocol_v5.spec §3). They cut
// strings and short bytes at 65,535 bytes, because the protocol has no room for more. Only texts
// for people (error messages, warnings) can be that long; names and ids are far shorter.

// AppendShort appends a [short].
func AppendShort(dst []byte, v uint16) []byte { return append(dst, byte(v>>8), byte(v)) }

// AppendInt appends an [int].
func AppendInt(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

// AppendLong appends a [long].
func AppendLong(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// AppendString appends a [string].
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	if len(s) > math.MaxUint16 {
		s = s[:math.MaxUint16]
	}
	dst = AppendShort(dst, uint16(len(s)))
	return append(dst, s...)
}

// AppendLongString appends a [long string].
func AppendLongString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = AppendInt(dst, int32(len(s)))
	return append(dst, s...)
}

// AppendShortBytes appends [short bytes].
func AppendShortBytes(dst, b []byte) []byte { return AppendString(dst, b) }

// AppendBytes appends [bytes]; nil is null. A non-null [value] has the same encoding.
func AppendBytes(dst, b []byte) []byte {
	if b == nil {
		return AppendNull(dst)
	}
	dst = AppendInt(dst, int32(len(b)))
	return append(dst, b...)
}

// AppendNull appends a null [bytes] or [value].
func AppendNull(dst []byte) []byte { return append(dst, 0xFF, 0xFF, 0xFF, 0xFF) }

// AppendUnset appends an unset [value].
func AppendUnset(dst []byte) []byte { return append(dst, 0xFF, 0xFF, 0xFF, 0xFE) }

// AppendConsistency appends a [consistency].
func AppendConsistency(dst []byte, c Consistency) []byte { return AppendShort(dst, uint16(c)) }

// AppendInetAddr appends an [inetaddr].
func AppendInetAddr(dst []byte, a netip.Addr) []byte {
	b := a.AsSlice()
	dst = append(dst, byte(len(b)))
	return append(dst, b...)
}

// AppendInet appends an [inet].
func AppendInet(dst []byte, a netip.AddrPort) []byte {
	return AppendInt(AppendInetAddr(dst, a.Addr()), int32(a.Port()))
}

// AppendStringList appends a [string list].
func AppendStringList(dst []byte, list []string) []byte {
	list = list[:min(len(list), math.MaxUint16)]
	dst = AppendShort(dst, uint16(len(list)))
	for _, s := range list {
		dst = AppendString(dst, s)
	}
	return dst
}

// AppendStringMap appends a [string map], sorted by key.
func AppendStringMap(dst []byte, m map[string]string) []byte {
	dst = AppendShort(dst, uint16(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		dst = AppendString(AppendString(dst, k), m[k])
	}
	return dst
}

// AppendStringMultimap appends a [string multimap], sorted by key.
func AppendStringMultimap(dst []byte, m map[string][]string) []byte {
	dst = AppendShort(dst, uint16(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		dst = AppendStringList(AppendString(dst, k), m[k])
	}
	return dst
}

// AppendBytesMap appends a [bytes map], sorted by key.
func AppendBytesMap(dst []byte, m map[string][]byte) []byte {
	dst = AppendShort(dst, uint16(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		dst = AppendBytes(AppendString(dst, k), m[k])
	}
	return dst
}
