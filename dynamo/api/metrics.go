// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// ItemCollectionMetrics describes the item collection that a write changed. Only tables with a
// local secondary index have item collections.
type ItemCollectionMetrics struct {
	Key  attribute.Item // the partition key alone
	Size int64          // bytes of all items and their index entries
}

// TableMetrics holds the metrics of the item collections of one table.
type TableMetrics struct {
	Table       string
	Collections []ItemCollectionMetrics
}

func (m *ItemCollectionMetrics) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = attribute.AppendItem(member(dst, "ItemCollectionKey"), m.Key)
	// The range of whole GB that contains the size. AWS's ranges are estimates, too.
	gb := m.Size >> 30
	dst = append(member(dst, "SizeEstimateRangeGB"), '[')
	dst = strconv.AppendInt(dst, gb, 10)
	dst = append(dst, '.', '0', ',')
	dst = strconv.AppendInt(dst, gb+1, 10)
	return append(dst, '.', '0', ']', '}')
}

func appendMetrics(dst []byte, all []TableMetrics) []byte {
	if all == nil {
		return dst
	}
	dst = append(member(dst, "ItemCollectionMetrics"), '{')
	for _, t := range all {
		dst = append(member(dst, t.Table), '[')
		for i := range t.Collections {
			dst = element(dst, i)
			dst = t.Collections[i].appendJSON(dst)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func appendText(dst []byte, s string) []byte { return jsontext.AppendString(dst, s) }
