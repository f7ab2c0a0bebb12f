// SPDX-License-Identifier: Apache-2.0

package capacity

import "fmt"

// warn collects warnings about results that may surprise.
func (p *Plan) warn() {
	add := func(format string, args ...any) { p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...)) }
	item := p.Store.Item()
	switch h := p.Hidden; {
	case h.TooLarge:
		add("is %s the size without the hidden key %s? It adds %d bytes, and the %s is then too large for %s: %s", bytesText(p.ItemBytes), h.Name, h.Bytes, item, p.Store.Name(), stores[p.Store].maxWhy)
	case h.Lifts:
		with := fmt.Sprintf("%d WCU in place of %d: at least %s shards", h.With.WriteUnits, p.WriteUnits, Number(float64(h.With.Minimum)))
		if h.With.Recommended > 0 {
			with += fmt.Sprintf(", %s recommended", Number(float64(h.With.Recommended)))
		}
		switch {
		case !h.KeyRepeated, h.KeyKnown:
			add("is %s the size without the hidden key %s? It adds %d bytes, and the %s then takes %s", bytesText(p.ItemBytes), h.Name, h.Bytes, item, with)
		case h.KeyBytesFit < 1:
			add("is %s the size without the hidden key %s? It adds %d bytes and the key once more, and the %s then takes %s", bytesText(p.ItemBytes), h.Name, h.Bytes, item, with)
		default:
			add("is %s the size without the hidden key %s? It adds %d bytes and the key once more; with a key of more than %d bytes (--key-bytes says how many) the %s takes %s", bytesText(p.ItemBytes), h.Name, h.Bytes, h.KeyBytesFit, item, with)
		}
	}
	if fit := PartitionWriteUnits / p.WriteUnits; fit < 20 {
		add("a partition takes only %d writes of %d WCU in a second: a few that meet throttle it, so headroom is dear; smaller items, or clients that retry, are the cheaper cure", fit, p.WriteUnits)
	}
	if p.Minimum == 1 && p.Recommended == 1 {
		add("one partition bears this: no shards are needed")
	}
	if p.Storage.WholeFullHours < 24*365*10 && p.Store == DynamoDB && p.Recommended > 0 {
		if p.Storage.ShardFullHours < 24*30 {
			add("with a local secondary index 10 GB is the end of an item collection, and if each write is a new item a shard gets there within a month")
		}
	}
}

func bytesText(n int) string { return Number(float64(n)) + " bytes" }
