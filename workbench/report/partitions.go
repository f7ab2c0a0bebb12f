// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// maps draws the partitions of a table and its indexes, and which keys share one, if the store
// reports them.
func (p *inspectionPage) maps() {
	for i, m := range p.r.Maps {
		name := "Partitions"
		if m.IndexName != "" {
			name += " of index " + m.IndexName
		}
		id := fmt.Sprintf("map%d", i)
		p.put(`<section aria-labelledby="`+id+`"><h2 id="`+id+`">`, name, "</h2>\n<p>", mapWords(m), "</p>\n")
		var rows [][]string
		shown, idle := inspection.Shown(m)
		for j := range shown {
			one := &shown[j]
			rows = append(rows, []string{fmt.Sprint(one.Number), part(one.Share), numberText(one.Write.Units), numberText(one.Write.Throttled), numberText(one.Read.Units), numberText(one.Read.Throttled), mapKeys(one, p.hide)})
		}
		p.numbers(name, []string{"Partition", "Of the hashes", "Write units/s", "Throttled/s", "Read units/s", "Throttled/s", "Partition keys, hottest first"}, rows)
		if idle > 0 {
			p.put("<p>", count(int64(idle))+" more have no keys and took nothing.", "</p>\n")
		}
		p.raw("</section>\n")
	}
}

func mapWords(m *api.PartitionsResponse) string {
	used := 0
	for i := range m.Partitions {
		one := &m.Partitions[i]
		if one.KeyCount > 0 || len(one.Keys) > 0 {
			used++
		}
	}
	many := count(int64(len(m.Partitions))) + " partitions"
	if len(m.Partitions) == 1 {
		many = "One partition"
	}
	words := fmt.Sprintf("%s, %s with keys; each takes %s write and %s read units a second.", many, count(int64(used)), numberText(m.PartitionWriteUnits), numberText(m.PartitionReadUnits))
	shared, table := inspection.Throttled(m)
	if shared > 0 {
		words += fmt.Sprintf(" Throttled with several keys in one: %d.", shared)
	}
	if table > 0 {
		words += fmt.Sprintf(" Requests throttled for a limit of the whole table or the account: %s.", count(table))
	}
	return words
}

// mapKeys lists a few of the keys of a partition.
func mapKeys(one *api.Partition, hide *redactor) string {
	const shown = 6
	var list []string
	for i, k := range one.Keys {
		if i == shown {
			break
		}
		text := hide.value(shorten(strings.Join(api.KeyTexts(k.Key), "#"), 40))
		if k.Shard > 0 {
			text += fmt.Sprintf(", shard %d", k.Shard)
		}
		list = append(list, text)
	}
	if more := max(one.KeyCount, len(one.Keys)) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%s more", count(int64(more))))
	}
	return strings.Join(list, "; ")
}
