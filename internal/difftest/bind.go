// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// bindValues serializes an @bind annotation's values for the prepared statement's markers. It sends
// values beyond the markers as text.
func bindValues(values []string, markers []Column) ([]*primitive.Value, error) {
	out := make([]*primitive.Value, len(values))
	for i, v := range values {
		var t datatype.DataType = datatype.Varchar
		if i < len(markers) {
			t = markers[i].Type
		}
		var err error
		if out[i], err = bindValue(v, t); err != nil {
			return nil, fmt.Errorf("bind value %d: %w", i+1, err)
		}
	}
	return out, nil
}

func bindValue(v string, t datatype.DataType) (*primitive.Value, error) {
	switch {
	case strings.EqualFold(v, "null"):
		return primitive.NewNullValue(), nil
	case strings.EqualFold(v, "unset"):
		return primitive.NewUnsetValue(), nil
	case strings.HasPrefix(v, "0x"):
		b, err := hex.DecodeString(v[2:])
		if b == nil {
			b = []byte{} // empty differs from null
		}
		return primitive.NewValue(b), err
	case strings.HasPrefix(v, "'"):
		text := strings.ReplaceAll(strings.TrimSuffix(v[1:], "'"), "''", "'")
		return primitive.NewValue([]byte(text)), nil
	}
	var b []byte
	var err error
	integer := func(bits int) (n int64) {
		n, err = strconv.ParseInt(v, 10, bits)
		return n
	}
	switch t.Code() {
	case primitive.DataTypeCodeTinyint:
		b = []byte{byte(integer(8))}
	case primitive.DataTypeCodeSmallint:
		b = binary.BigEndian.AppendUint16(nil, uint16(integer(16)))
	case primitive.DataTypeCodeInt:
		b = binary.BigEndian.AppendUint32(nil, uint32(integer(32)))
	case primitive.DataTypeCodeBigint, primitive.DataTypeCodeCounter, primitive.DataTypeCodeTimestamp, primitive.DataTypeCodeTime:
		b = binary.BigEndian.AppendUint64(nil, uint64(integer(64)))
	case primitive.DataTypeCodeBoolean:
		var yes bool
		if yes, err = strconv.ParseBool(v); yes {
			b = []byte{1}
		} else {
			b = []byte{0}
		}
	case primitive.DataTypeCodeFloat:
		var f float64
		f, err = strconv.ParseFloat(v, 32)
		b = binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(f)))
	case primitive.DataTypeCodeDouble:
		var f float64
		f, err = strconv.ParseFloat(v, 64)
		b = binary.BigEndian.AppendUint64(nil, math.Float64bits(f))
	case primitive.DataTypeCodeUuid, primitive.DataTypeCodeTimeuuid:
		b, err = hex.DecodeString(strings.ReplaceAll(v, "-", ""))
	default:
		err = fmt.Errorf("%q for a %s: give the bytes, as 0x…", v, t.AsCql())
	}
	return primitive.NewValue(b), err
}
