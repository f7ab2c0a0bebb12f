package run

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// walkChunk is how many physical partitions a scan asks for at once.
const walkChunk = 1000

// ownersKept bounds what a scan remembers of whom partitions belong to; what is
// forgotten is asked again.
const ownersKept = 100_000

// owners visits the rows of logical partitions in the order of their owners: the
// shards of lowest token that have anything. It walks over physical partitions; one
// that is not its partition's owner is passed over.
//
// A shard of lower token that is filled while the scan is between it and the owner
// becomes the owner behind the scan's back, and the partition is missed; one that
// is emptied makes it come twice. Cassandra's own scans promise no more of
// partitions that come and go.
func (x *reader) owners(c plan.Cursor, hint int, f visit) error {
	t := x.plan.Table
	known := map[string]plan.Position{}
	var last *plan.Position
	if c.Scan != nil {
		at, key, _, err := t.At(c.Scan)
		if err != nil {
			return err
		}
		last = &at
		known[string(plan.AppendKey(nil, key))] = at
		if on, err := x.owned(at, key, c, hint, f); err != nil || !on {
			return err
		}
	}
	for _, r := range x.bound.Tokens {
		if last != nil {
			if last.Token > r.End {
				continue
			}
			r.Start = max(r.Start, last.Token)
		}
		if on, err := x.walk(r, last, known, hint, f); err != nil || !on {
			return err
		}
	}
	return nil
}

// walk visits what the physical partitions of a range of tokens own, after last.
func (x *reader) walk(r analysis.TokenRange, last *plan.Position, known map[string]plan.Position, hint int, f visit) (bool, error) {
	t := x.plan.Table
	limit := walkChunk
	for {
		rows, err := x.all([]plan.Fetch{x.plan.Walk(r, limit)})
		if err != nil {
			return false, err
		}
		moved := false
		for _, row := range rows {
			n := len(t.PartitionKey)
			shard, ok := 0, len(row) == n+1
			if ok {
				shard, ok = shardValue(row[n])
			}
			if !ok {
				return false, fmt.Errorf("run: a scan of %s.%s brought something else than keys", t.Keyspace, t.Name)
			}
			key := row[:n:n]
			at := t.Position(key, shard)
			if last != nil && at.Compare(*last) <= 0 {
				continue
			}
			last, moved = &at, true
			owns, err := x.owns(at, key, known)
			if err != nil {
				return false, err
			}
			if !owns {
				continue
			}
			if on, err := x.owned(at, key, plan.Cursor{Scan: at.Key}, hint, f); err != nil || !on {
				return false, err
			}
		}
		if len(rows) < limit {
			return true, nil
		}
		if !moved {
			if limit > math.MaxInt32/2 {
				return false, fmt.Errorf("run: a scan of %s.%s does not get on", t.Keyspace, t.Name)
			}
			limit *= 2 // more partitions than that have one token
		}
		r.Start = last.Token
	}
}

// owned visits the rows of the partition that a position owns.
func (x *reader) owned(at plan.Position, key [][]byte, c plan.Cursor, hint int, f visit) (bool, error) {
	token := at.Token
	x.bound.Env.Token = func([][]byte) []byte { return be64Bytes(uint64(token)) }
	c.KeyIndex = 0
	return x.partition(key, c, hint, f)
}

// owns says whether no shard of lower token has anything of a logical partition.
func (x *reader) owns(at plan.Position, key [][]byte, known map[string]plan.Position) (bool, error) {
	name := string(plan.AppendKey(nil, key))
	if owner, ok := known[name]; ok && rule.On(rule.OwnersOnce) {
		return owner.Compare(at) == 0, nil
	}
	owner := at
	lower := x.plan.Table.Before(key, at)
	if len(lower) > 0 {
		var fetches []plan.Fetch
		for len(lower) > 0 {
			n := min(presenceGroup, len(lower))
			fetches = append(fetches, x.plan.Probe(x.bound, key, lower[:n]))
			lower = lower[n:]
		}
		err := x.drain(fetches, func(cells [][]byte) error {
			shard, ok := shardValue(cells[len(cells)-1])
			if !ok {
				return fmt.Errorf("run: a probe of %s.%s brought no shard", x.plan.Table.Keyspace, x.plan.Table.Name)
			}
			if q := x.plan.Table.Position(key, shard); q.Compare(owner) < 0 {
				owner = q
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	if len(known) >= ownersKept {
		clear(known)
	}
	known[name] = owner
	return owner.Compare(at) == 0 || !rule.On(rule.OwnersOnce), nil
}

func be64Bytes(n uint64) []byte {
	return []byte{byte(n >> 56), byte(n >> 48), byte(n >> 40), byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}
