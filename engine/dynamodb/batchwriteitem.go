// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// put is one prepared write of a batch.
type put struct {
	sh   *shape
	key  []byte
	item attribute.Item // nil: delete
	at   attribute.Item // has at least the table's key

	table    string // as the request names it
	throttle error  // the error because of which it is left unprocessed
}

// batchWriteItem applies all writes together. DynamoDB does not promise that. It applies none if
// nobody waits any more.
func (wr *writer) batchWriteItem(ctx context.Context, c *Call, q *api.BatchWriteItem) (api.Response, error) {
	var in entered
	puts, err := wr.preparePuts(&in, q)
	if err != nil {
		in.leave()
		return nil, err
	}
	keys := make([][]byte, len(puts))
	for i := range puts {
		keys[i] = puts[i].key
	}
	h := &c.held
	h.lockAll(wr.locks, keys)
	b := wr.space.Pebble.NewBatch()
	defer b.Close()
	spents := make([]spent, len(puts))
	left := 0
	for i := range puts {
		p := &puts[i]
		switch err = ctx.Err(); {
		case err != nil:
		case p.sh.model != nil:
			spents[i], err = wr.writeLimited(c, b, p)
		default:
			spents[i], err = wr.writeBatched(c, b, p, q.Capacity != api.CapacityNone)
		}
		if err != nil && isThrottled(err) {
			p.throttle, err = err, nil
			left++
		}
		if err != nil {
			h.unlock()
			in.leave()
			return nil, fmt.Errorf("write an item: %w", err)
		}
	}
	if left == len(puts) {
		h.unlock()
		in.leave()
		return nil, puts[0].throttle
	}
	if b.Empty() {
		err = wr.refuse(h, in.leave)
	} else {
		err = wr.commit(c, b, in.leave)
	}
	if err != nil {
		return nil, err
	}
	return wr.answerBatch(q, puts, spents)
}

// writeBatched adds one write to the Pebble batch.
func (wr *writer) writeBatched(c *Call, b *pebble.Batch, p *put, needsOld bool) (spent, error) {
	var old stored
	if p.item == nil || p.sh.needsOld() || needsOld {
		var err error
		if old, err = c.read(now{wr.space.Pebble}, p.key); err != nil {
			return spent{}, err
		}
	}
	return wr.write(c, b, p.sh, p.key, &old, p.item)
}

// writeLimited adds one write to the Pebble batch, if the limits let it.
func (wr *writer) writeLimited(c *Call, b *pebble.Batch, p *put) (spent, error) {
	if err := wr.meter.admit(p.sh, throughput.Write, p.key); err != nil {
		return spent{}, err
	}
	own := wr.space.Pebble.NewBatch()
	defer own.Close()
	charges, changes := len(c.charges), len(c.changes)
	sp, err := wr.writeBatched(c, own, p, true)
	if err == nil {
		err = wr.meter.afford(c.charges[charges:])
	}
	if err != nil {
		// A write that is not done costs nothing, and no stream reports it.
		c.charges, c.changes = c.charges[:charges], c.changes[:changes]
		return spent{}, err
	}
	return sp, b.Apply(own, nil)
}

// preparePuts makes the checks of a batch that need no reads.
func (wr *writer) preparePuts(in *entered, q *api.BatchWriteItem) ([]put, error) {
	var puts []put
	seen := map[string]bool{}
	for i := range q.Tables {
		bt := &q.Tables[i]
		sh, err := in.enter(wr.tables, bt.Table)
		if err != nil {
			return nil, err
		}
		for _, w := range bt.Writes {
			p := put{sh: sh, item: w.Item, at: w.Item, table: bt.Table}
			if w.Item != nil {
				// An error in a key is reported as an error of a key.
				if err = sh.Table.CheckKey(w.Item.Only(sh.Table.Key.Names(nil)...)); err == nil {
					err = sh.Table.CheckItem(w.Item)
				}
			} else {
				p.at = w.Key
				err = sh.Table.CheckKey(w.Key)
			}
			if err != nil {
				return nil, err
			}
			p.key = sh.appendItemKey(nil, p.at)
			if seen[string(p.key)] {
				return nil, exception.Invalid("Provided list of item keys contains duplicates")
			}
			seen[string(p.key)] = true
			puts = append(puts, p)
		}
	}
	return puts, nil
}

// addUnprocessed adds a write that was not done to the unprocessed writes of its table.
func addUnprocessed(all []api.BatchWriteTable, p *put) []api.BatchWriteTable {
	w := api.BatchWrite{Item: p.item}
	if p.item == nil {
		w.Key = p.at
	}
	for i := range all {
		if all[i].Table == p.table {
			all[i].Writes = append(all[i].Writes, w)
			return all
		}
	}
	return append(all, api.BatchWriteTable{Table: p.table, Writes: []api.BatchWrite{w}})
}

func (wr *writer) answerBatch(q *api.BatchWriteItem, puts []put, spents []spent) (api.Response, error) {
	r := &api.BatchWriteResponse{}
	for i := range puts {
		if puts[i].throttle != nil {
			r.Unprocessed = addUnprocessed(r.Unprocessed, &puts[i])
			continue
		}
		name := puts[i].table // as AWS does: the ARN if the request gave it
		if q.Capacity != api.CapacityNone {
			r.Capacity = addCapacity(r.Capacity, spents[i].consumed(puts[i].sh, q.Capacity, name))
		}
		if q.Metrics && len(puts[i].sh.Table.Local) > 0 {
			var err error
			if r.Metrics, err = addMetrics(wr.space, r.Metrics, name, puts[i].sh, puts[i].at); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}
