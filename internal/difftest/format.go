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

// formatCell formats a cell for the reader of a failure: simple types as values, others as bytes.
func formatCell(t datatype.DataType, b []byte) string {
	if b == nil {
		return "null"
	}
	if t == nil {
		return "0x" + hex.EncodeToString(b)
	}
	switch code := t.Code(); {
	case code == primitive.DataTypeCodeAscii || code == primitive.DataTypeCodeVarchar:
		return strconv.Quote(string(b))
	case code == primitive.DataTypeCodeBoolean && len(b) == 1:
		return strconv.FormatBool(b[0] != 0)
	case code == primitive.DataTypeCodeFloat && len(b) == 4:
		return fmt.Sprint(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case code == primitive.DataTypeCodeDouble && len(b) == 8:
		return fmt.Sprint(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case code == primitive.DataTypeCodeTinyint && len(b) == 1:
		return fmt.Sprint(int8(b[0]))
	case code == primitive.DataTypeCodeSmallint && len(b) == 2:
		return fmt.Sprint(int16(binary.BigEndian.Uint16(b)))
	case code == primitive.DataTypeCodeInt && len(b) == 4:
		return fmt.Sprint(int32(binary.BigEndian.Uint32(b)))
	case (code == primitive.DataTypeCodeBigint || code == primitive.DataTypeCodeCounter ||
		code == primitive.DataTypeCodeTimestamp || code == primitive.DataTypeCodeTime) && len(b) == 8:
		return fmt.Sprint(int64(binary.BigEndian.Uint64(b)))
	}
	return "0x" + hex.EncodeToString(b)
}

func formatRow(cols []Column, r [][]byte) string {
	cells := make([]string, len(r))
	for i, b := range r {
		var t datatype.DataType
		if i < len(cols) {
			t = cols[i].Type
		}
		cells[i] = formatCell(t, b)
	}
	return "(" + strings.Join(cells, ", ") + ")"
}

// String formats an answer for the reader of a failure, on several lines.
func (a *Answer) String() string {
	var b strings.Builder
	switch a.Kind {
	case Error:
		fmt.Fprintf(&b, "error 0x%04x %s", int32(a.Code), a.Text)
	case Rows:
		fmt.Fprintf(&b, "%d rows of %v", len(a.Rows), a.Columns)
		for i, r := range a.Rows {
			if i == 20 {
				fmt.Fprintf(&b, "\n  … %d more", len(a.Rows)-i)
				break
			}
			b.WriteString("\n  " + formatRow(a.Columns, r))
		}
	case Prepared:
		fmt.Fprintf(&b, "prepared; binds %v, partition key %v, gives %v", a.Bind, a.PK, a.Columns)
	default:
		b.WriteString(strings.TrimSpace(string(a.Kind) + " " + a.Text))
	}
	for _, w := range a.Warnings {
		b.WriteString("\n  warning: " + w)
	}
	return b.String()
}
