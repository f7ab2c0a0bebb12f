// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// transactor carries out transactions that write.
type transactor struct {
	*writer
	tokens *tokens
}

// action is one prepared write of a transaction.
type action struct {
	*api.TransactAction
	sh  *shape
	key []byte
	at  attribute.Item // has at least the table's key
	old stored
	new attribute.Item
}

func (tx *transactor) transactWriteItems(ctx context.Context, c *Call, q *api.TransactWriteItems) (api.Response, error) {
	var in entered
	actions, err := tx.prepare(&in, q)
	if err == nil {
		err = tx.admitAll(actions)
	}
	if err != nil {
		in.leave()
		return nil, err
	}
	keys := make([][]byte, 0, len(actions)+1)
	for i := range actions {
		keys = append(keys, actions[i].key)
	}
	var token []byte
	if q.Token != "" {
		token = tx.tokens.key(q.Token)
		keys = append(keys, token)
	}
	h := &c.held
	h.lockAll(tx.locks, keys)
	b := tx.space.Pebble.NewBatch()
	defer b.Close()
	r, err := tx.transact(ctx, c, b, q, actions, token)
	switch {
	case err != nil:
		var told *exception.Error
		if errors.As(err, &told) {
			err = errors.Join(tx.refuse(h, in.leave), err)
		} else {
			h.unlock()
			in.leave()
		}
	case b.Empty():
		err = tx.refuse(h, in.leave)
	default:
		err = tx.commit(c, b, in.leave)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// prepare makes the checks that need no reads.
func (tx *transactor) prepare(in *entered, q *api.TransactWriteItems) ([]action, error) {
	actions := make([]action, len(q.Actions))
	seen, twice := make(map[string]bool, len(actions)), false
	for i := range actions {
		a := &actions[i]
		a.TransactAction = &q.Actions[i]
		var err error
		if a.sh, err = in.enter(tx.tables, a.Table); err != nil {
			return nil, err
		}
		a.at = a.Key
		if a.Kind == api.TransactPut {
			a.at = a.Item
		}
	}
	var wrong reasons
	for i := range actions {
		a := &actions[i]
		var err error
		switch a.Kind {
		case api.TransactPut:
			err = a.sh.Table.CheckItem(a.Item)
		case api.TransactUpdate:
			err = checkUpdate(a.sh, a.Key, a.Update)
		default:
			err = a.sh.Table.CheckKey(a.Key)
		}
		if err != nil { // the transaction is refused, whatever the faults of the other actions
			if err := wrong.add(len(actions), i, err); err != nil {
				return nil, err
			}
			break
		}
		a.key = a.sh.appendItemKey(nil, a.at)
		twice = twice || seen[string(a.key)]
		seen[string(a.key)] = true
	}
	if err := wrong.cancelled(); err != nil || !twice {
		return actions, err
	}
	return nil, errTwice
}

// errTwice is AWS's error about a transaction with two reads or writes of one item.
var errTwice = exception.Invalid("Transaction request cannot include multiple operations on one item")

// admitAll returns an error if the tables' limits do not admit the transaction.
func (tx *transactor) admitAll(actions []action) error {
	var wrong reasons
	for i := range actions {
		a := &actions[i]
		if a.sh.model == nil {
			continue
		}
		if err := tx.meter.admit(a.sh, throughput.Write, a.key); err != nil {
			if err := wrong.add(len(actions), i, err); err != nil {
				return err
			}
		}
	}
	return wrong.cancelled()
}

// settle does for a transaction what afford does for a single write. The units count twice.
func (tx *transactor) settle(c *Call, actions []action) error {
	var wrong reasons
	for i := range c.charges {
		ch := &c.charges[i]
		ch.units = ch.units.Transactional()
		if err := tx.meter.allow(ch); err != nil {
			if err := wrong.add(len(actions), ch.action, err); err != nil {
				return err
			}
		}
	}
	if err := wrong.cancelled(); err != nil {
		return err
	}
	tx.meter.pay(c.charges)
	return nil
}

// payCancelled charges the checks of a cancelled transaction, or of one that was done before.
func (tx *transactor) payCancelled(actions []action, op throughput.Op) {
	for i := range actions {
		a := &actions[i]
		if a.sh.model == nil {
			continue
		}
		units := api.WriteUnits(a.old.size, 0)
		if op == throughput.Read {
			units = api.ReadUnits(a.old.size, true)
		}
		tx.meter.spend(a.sh, op, a.key, units.Transactional())
	}
}

// transact computes a transaction. The caller holds its locks. If the token is known, the
// transaction has been done before. Nothing is done if nobody waits any more.
func (tx *transactor) transact(ctx context.Context, c *Call, b *pebble.Batch, q *api.TransactWriteItems, actions []action, token []byte) (*api.TransactWriteResponse, error) {
	done := false
	if token != nil {
		digest, found, err := tx.tokens.find(token)
		if err != nil {
			return nil, err
		}
		if found && digest != q.Digest {
			return nil, exception.New(exception.IdempotentParameterMismatch,
				"Request parameters do not match those of the original request with this client token")
		}
		done = found
	}
	var wrong reasons
	size := 0
	for i := range actions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := &actions[i]
		var err error
		if a.old, err = c.read(now{tx.space.Pebble}, a.key); err != nil {
			return nil, err
		}
		if done {
			continue
		}
		if err := a.decide(c); err != nil {
			if err := wrong.add(len(actions), i, err); err != nil {
				return nil, err
			}
		}
		size += a.new.Size()
	}
	if err := wrong.cancelled(); err != nil {
		tx.payCancelled(actions, throughput.Write)
		return nil, err
	}
	if err := api.CheckTransactionSize(size); err != nil {
		return nil, err
	}
	r := &api.TransactWriteResponse{}
	if done {
		tx.payCancelled(actions, throughput.Read)
		return r, tx.answerTransact(r, q, actions, nil)
	}
	spents := make([]spent, len(actions))
	for i := range actions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := &actions[i]
		if a.Kind == api.TransactCheck {
			spents[i] = spent{base: api.WriteUnits(a.old.size, 0)}
			if a.sh.model != nil {
				c.owe(a.sh, nil, a.key, spents[i].base, 0)
				c.charges[len(c.charges)-1].action = i
			}
			continue
		}
		var err error
		from := len(c.charges)
		if spents[i], err = tx.write(c, b, a.sh, a.key, &a.old, a.new); err != nil {
			return nil, fmt.Errorf("write an item: %w", err)
		}
		for k := from; k < len(c.charges); k++ {
			c.charges[k].action = i
		}
	}
	if err := tx.settle(c, actions); err != nil {
		return nil, err
	}
	if token != nil {
		if err := b.Set(token, appendTokenValue(nil, tx.clock(), q.Digest), nil); err != nil {
			return nil, err
		}
	}
	return r, tx.answerTransact(r, q, actions, spents)
}

// decide computes the item after the action.
func (a *action) decide(c *Call) error {
	before, err := c.decode(&a.old)
	if err != nil {
		return err
	}
	if !a.Condition.Match(before) {
		return failed(&a.old, a.ReturnOnFailure)
	}
	switch a.Kind {
	case api.TransactPut:
		a.new = a.Item
	case api.TransactUpdate:
		a.new, err = update(a.sh, a.Key, a.Update, before)
	}
	return err
}

// answerTransact adds capacity and metrics to the answer. Without spents the transaction is a
// repeated one, which costs reads.
func (tx *transactor) answerTransact(r *api.TransactWriteResponse, q *api.TransactWriteItems, actions []action, spents []spent) error {
	if q.Capacity != api.CapacityNone {
		r.Capacity = []api.ConsumedCapacity{}
	}
	for i := range actions {
		a := &actions[i]
		if q.Capacity != api.CapacityNone {
			var sp spent
			display := api.DisplayWrite
			if spents == nil {
				sp.base, display = api.ReadUnits(a.old.size, true).Transactional(), api.DisplayRead
			} else {
				sp = spents[i]
				sp.base = sp.base.Transactional()
				for k := range sp.indexes {
					sp.indexes[k] = sp.indexes[k].Transactional()
				}
			}
			cc := sp.consumed(a.sh, q.Capacity, a.Table)
			cc.Display = display
			r.Capacity = addCapacity(r.Capacity, cc)
		}
		if q.Metrics && spents != nil && len(a.sh.Table.Local) > 0 && a.Kind != api.TransactCheck {
			var err error
			if r.Metrics, err = addMetrics(tx.space, r.Metrics, a.Table, a.sh, a.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCapacity adds the capacity taken from a table to the list for all tables.
func addCapacity(all []api.ConsumedCapacity, cc *api.ConsumedCapacity) []api.ConsumedCapacity {
	for i := range all {
		if all[i].Table == cc.Table {
			all[i].Add(cc)
			return all
		}
	}
	return append(all, *cc)
}
