// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/engine/storage"
)

func (df *definer) describeTable(q *api.DescribeTable) (api.Response, error) {
	t, err := df.tables.named(q.Table)
	if err != nil {
		return nil, err
	}
	size, err := df.size(t)
	if err != nil {
		return nil, err
	}
	return &api.TableResponse{Table: t.shape.Load().Table, Size: size, Describe: true}, nil
}

const (
	// countedEntries is the number of entries that are counted one by one. The number of further
	// entries is estimated.
	countedEntries = 20_000
	// countLife is how long a count that long is used again.
	countLife = time.Minute
)

// counts holds the last counts.
type counts struct {
	mu   sync.Mutex
	at   time.Time
	size api.TableSize
	of   *shape
}

// size returns the sizes of a table and its indexes: exact for small ones, and up to about a
// minute old for others. (AWS's figures are up to six hours old.)
func (df *definer) size(t *table) (api.TableSize, error) {
	sh := t.shape.Load()
	n := &t.counts
	n.mu.Lock()
	defer n.mu.Unlock()
	now := df.clock()
	if n.of == sh && now.Sub(n.at) < countLife {
		return n.size, nil
	}
	size, exact, err := sh.count(df.space, indexItems)
	if err != nil {
		return size, err
	}
	size.Indexes = make(map[string]api.TableSize, len(sh.indexes))
	for i := range sh.indexes {
		of, all, err := sh.count(df.space, sh.indexes[i].id)
		if err != nil {
			return size, err
		}
		size.Indexes[sh.indexes[i].Name] = of
		exact = exact && all
	}
	n.of = nil
	if !exact {
		n.of, n.at, n.size = sh, now, size
	}
	return size, nil
}

// count counts the entries of a table's index. exact says whether it counted all of them.
func (sh *shape) count(space *storage.Space, index uint16) (size api.TableSize, exact bool, err error) {
	lower := sh.prefix(nil, index)
	size, exact, err = countRange(space, lower, appendAfter(nil, lower))
	if err != nil {
		err = fmt.Errorf("size of table %s: %w", sh.Table.Name, err)
	}
	return size, exact, err
}

// countRange counts the entries of a range.
func countRange(space *storage.Space, lower, upper []byte) (size api.TableSize, exact bool, err error) {
	it, err := space.Pebble.NewIter(bounded(lower, upper))
	if err != nil {
		return size, false, err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return size, false, err
		}
		n, _, err := parseValue(v)
		if err != nil {
			return size, false, err
		}
		size.Items++
		size.Bytes += int64(n)
		if size.Items%countedEntries != 0 {
			continue
		}
		// The sizes of the files show which part of the table has been counted. The loop still
		// counts entries that are not in a file yet.
		all, err := space.Pebble.EstimateDiskUsage(lower, upper)
		if err != nil {
			return size, false, err
		}
		seen, err := space.Pebble.EstimateDiskUsage(lower, it.Key())
		if err != nil {
			return size, false, err
		}
		if seen < 1<<16 {
			continue
		}
		size.Items = int64(float64(size.Items) * float64(all) / float64(seen))
		size.Bytes = int64(float64(size.Bytes) * float64(all) / float64(seen))
		return size, false, nil
	}
	return size, true, it.Error()
}
