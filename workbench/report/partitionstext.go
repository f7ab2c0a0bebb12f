// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// PartitionsText writes the partitions of a table or index, and which keys share a partition. A
// CQL table has tokens, and its shard is a value of its own in the key.
func PartitionsText(out io.Writer, r *api.PartitionsResponse, cql bool) {
	name := r.TableName
	if r.IndexName != "" {
		name = r.TableName + ", index " + r.IndexName
	}
	mode := "provisioned"
	if r.BillingMode == "PAY_PER_REQUEST" {
		mode = "on demand"
	}
	split := "never split for heat"
	if r.SplitAfterSeconds > 0 {
		split = fmt.Sprintf("split for heat after %s s", capacity.Number(r.SplitAfterSeconds))
	}
	fmt.Fprintf(out, "partitions of %s: %d, %s; each takes %s write and %s read units a second; %s\n",
		name, len(r.Partitions), mode, capacity.Number(r.PartitionWriteUnits), capacity.Number(r.PartitionReadUnits), split)
	place, width := "from", 9
	if cql {
		place, width = "from token", 20
	}
	fmt.Fprintf(out, "  %4s  %-*s %6s  %18s  %18s  %s\n", "", width, place, "share", "write units/s", "read units/s", "partition keys (throttled in the last 10 to 20 s)")
	shown, idle := inspection.Shown(r)
	for _, p := range shown {
		from, share := "start", fmt.Sprintf("%.1f%%", 100*p.Share)
		if p.From != nil {
			if from = p.From.Hash; cql {
				from = p.From.Token
			}
		}
		switch {
		case p.Share == 0:
			share = "part"
		case p.Share < 0.001:
			share = Percent(p.Share)
		}
		fmt.Fprintf(out, "  %4d  %-*s %6s  %18s  %18s  %s\n", p.Number, width, from, share, useText(p.Write), useText(p.Read), keysText(&p, cql))
		if p.From != nil && p.From.Key != nil {
			fmt.Fprintf(out, "        from %s on\n", keyWords(p.From.Key, p.From.Shard, cql))
		}
	}
	if idle > 0 {
		fmt.Fprintf(out, "  and %s that have no keys and took nothing\n", numberText(float64(idle)))
	}
	shared, table := inspection.Throttled(r)
	if shared > 0 {
		fmt.Fprintf(out, "%s, which share its units until a split comes between them; warm throughput gives more partitions in advance\n", sharedText(shared))
	}
	if table > 0 {
		fmt.Fprintf(out, "%s requests were throttled for a limit of the whole table or the account, which no split raises\n", numberText(float64(table)))
	}
}

func sharedText(n int) string {
	if n == 1 {
		return "1 partition has throttled and has several keys"
	}
	return fmt.Sprintf("%d partitions have throttled and have several keys", n)
}

// useText formats the units of the last second and the requests throttled in it.
func useText(u api.PartitionUse) string {
	s := capacity.Number(u.Units)
	if u.Throttled > 0 {
		s += fmt.Sprintf(" (-%s)", capacity.Number(u.Throttled))
	}
	return s
}

// shownKeys is the number of keys printed for each partition.
const shownKeys = 6

func keysText(p *api.Partition, cql bool) string {
	var parts []string
	for i, k := range p.Keys {
		if i == shownKeys {
			break
		}
		s := keyWords(k.Key, k.Shard, cql)
		if k.Throttled > 0 {
			s += fmt.Sprintf(" (%s)", capacity.Number(float64(k.Throttled)))
		}
		parts = append(parts, s)
	}
	if more := max(p.KeyCount, len(p.Keys)) - len(parts); more > 0 {
		least := ""
		if p.AtLeast {
			least = "at least "
		}
		parts = append(parts, fmt.Sprintf("and %s%s more", least, capacity.Number(float64(more))))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// keyWords formats a key's values with the shard: as 121212-3 for DynamoDB, as "2020-07-09 shard
// 3" for CQL.
func keyWords(key json.RawMessage, shard int, cql bool) string {
	values := api.KeyTexts(key)
	switch {
	case shard > 0 && cql:
		values = append(values, fmt.Sprintf("shard %d", shard))
	case shard > 0 && len(values) > 0:
		values[0] = fmt.Sprintf("%s-%d", values[0], shard)
	}
	return shortened(strings.Join(values, " "))
}
