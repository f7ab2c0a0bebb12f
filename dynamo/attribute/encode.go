// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"encoding/base64"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// AppendItem appends the item as DynamoDB JSON, {"a":{"S":"b"}}, with its names in order.
func AppendItem(dst []byte, item Item) []byte {
	dst = append(dst, '{')
	for i := range item {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, item[i].Name)
		dst = append(dst, ':')
		dst = AppendJSON(dst, item[i].Value)
	}
	return append(dst, '}')
}

// AppendJSON appends the value as DynamoDB JSON, {"S":"b"}. It appends {} for an invalid value.
func AppendJSON(dst []byte, v Value) []byte {
	if v.kind == Invalid {
		return append(dst, '{', '}')
	}
	dst = append(dst, '{', '"')
	dst = append(dst, kindNames[v.kind]...)
	dst = append(dst, '"', ':')
	switch v.kind {
	case S, N, B:
		dst = appendText(dst, v)
	case BOOL:
		if v.n == 1 {
			dst = append(dst, "true"...)
		} else {
			dst = append(dst, "false"...)
		}
	case NULL:
		dst = append(dst, "true"...)
	case M:
		dst = AppendItem(dst, v.Fields())
	case L:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e)
		}
		dst = append(dst, ']')
	default:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, e)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendText appends the JSON string of an S, N or B.
func appendText(dst []byte, v Value) []byte {
	switch v.kind {
	case N:
		dst = append(dst, '"')
		dst = append(dst, v.Text()...)
		return append(dst, '"')
	case B:
		dst = append(dst, '"')
		dst = appendBase64(dst, v.Text())
		return append(dst, '"')
	}
	return jsontext.AppendString(dst, v.Text())
}

func appendBase64(dst []byte, text string) []byte {
	// Encode pieces of whole groups, because base64 needs a []byte.
	var piece [96]byte
	for len(text) > 0 {
		n := copy(piece[:], text)
		dst = slices.Grow(dst, base64.StdEncoding.EncodedLen(n))
		dst = base64.StdEncoding.AppendEncode(dst, piece[:n])
		text = text[n:]
	}
	return dst
}
