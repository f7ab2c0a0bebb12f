package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
)

// partitionMaps asks for the partitions of a table and of its global indexes; none
// where the store does not tell them.
func partitionMaps(ctx context.Context, t *livedynamo.Table) ([]*api.PartitionsResponse, error) {
	indexes := []string{""}
	for _, ix := range t.Table().Indexes {
		if !ix.Local {
			indexes = append(indexes, ix.Name)
		}
	}
	var all []*api.PartitionsResponse
	for _, index := range indexes {
		m, err := t.Partitions(ctx, index)
		if errors.Is(err, livedynamo.ErrNoPartitions) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// partitionsText prints the partitions of a table or index, and which keys share
// one.
func partitionsText(out io.Writer, r *api.PartitionsResponse) {
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
	fmt.Fprintf(out, "  %4s  %-9s %6s  %18s  %18s  %s\n", "", "from", "share", "write units/s", "read units/s", "partition keys (throttled in the last 10 to 20 s)")
	shared := 0
	for _, p := range r.Partitions {
		from, share := "start", fmt.Sprintf("%.1f%%", 100*p.Share)
		if p.From != nil {
			from = p.From.Hash
		}
		if p.Share == 0 {
			share = "part"
		}
		fmt.Fprintf(out, "  %4d  %-9s %6s  %18s  %18s  %s\n", p.Number, from, share, useText(p.Write), useText(p.Read), keysText(&p))
		if p.From != nil && p.From.Key != nil {
			fmt.Fprintf(out, "        from %s on\n", keyText(p.From.Key, p.From.Shard))
		}
		if len(p.Keys) > 1 && p.Write.ThrottledTotal+p.Read.ThrottledTotal > 0 {
			shared++
		}
	}
	if shared > 0 {
		fmt.Fprintf(out, "%s, which share its units until a split comes between them; warm throughput gives more partitions in advance\n", sharedText(shared))
	}
}

func sharedText(n int) string {
	if n == 1 {
		return "1 partition has throttled and has several keys"
	}
	return fmt.Sprintf("%d partitions have throttled and have several keys", n)
}

// useText is the units of the last second, and the requests throttled in it.
func useText(u api.PartitionUse) string {
	s := capacity.Number(u.Units)
	if u.Throttled > 0 {
		s += fmt.Sprintf(" (-%s)", capacity.Number(u.Throttled))
	}
	return s
}

// shownKeys is how many keys of a partition are printed.
const shownKeys = 6

func keysText(p *api.Partition) string {
	var parts []string
	for i, k := range p.Keys {
		if i == shownKeys {
			break
		}
		s := keyText(k.Key, k.Shard)
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

// keyText is a key's values, with the shard as in 121212-3.
func keyText(key json.RawMessage, shard int) string {
	item, err := new(attribute.Decoder).Item([]byte(key))
	if err != nil {
		return string(key)
	}
	var values []string
	for i, a := range item {
		v := attribute.KeyText(a.Value)
		if i == 0 && shard > 0 {
			v = fmt.Sprintf("%s-%d", v, shard)
		}
		values = append(values, v)
	}
	return strings.Join(values, " ")
}
