// SPDX-License-Identifier: Apache-2.0

package items

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/engine/capacity"
)

// entered holds the tables that a request has entered, each once. If a request entered a table
// twice and a change of the table waited in between, both would wait for ever.
type entered struct {
	tables []*table
	shapes []*shape
}

// enter enters a table by its name or ARN, unless the request has entered it already.
func (s *Store) enter(e *entered, name string) (*shape, error) {
	t, err := s.tables.forItems(name)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(e.tables, t); i >= 0 {
		return e.shapes[i], nil
	}
	sh, err := t.enter()
	if err != nil {
		return nil, err
	}
	e.tables, e.shapes = append(e.tables, t), append(e.shapes, sh)
	return sh, nil
}

func (e *entered) leave() {
	for _, t := range e.tables {
		t.leave()
	}
	e.tables = nil
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

func (s *Store) transactWriteItems(c *Call, q *api.TransactWriteItems) (api.Response, error) {
	var in entered
	actions, err := s.prepare(&in, q)
	if err == nil {
		err = s.admitAll(actions)
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
		token = s.tokenKey(q.Token)
		keys = append(keys, token)
	}
	h := &c.held
	h.lockAll(&s.locks, keys)
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	r, err := s.transact(c, b, q, actions, token)
	switch {
	case err != nil:
		var told *exception.Error
		if errors.As(err, &told) {
			err = errors.Join(s.refuse(h, in.leave), err)
		} else {
			h.unlock()
			in.leave()
		}
	case b.Empty():
		err = s.refuse(h, in.leave)
	default:
		err = s.commit(c, b, in.leave)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// prepare makes the checks that need no reads.
func (s *Store) prepare(in *entered, q *api.TransactWriteItems) ([]action, error) {
	actions := make([]action, len(q.Actions))
	seen, twice := make(map[string]bool, len(actions)), false
	for i := range actions {
		a := &actions[i]
		a.TransactAction = &q.Actions[i]
		var err error
		if a.sh, err = s.enter(in, a.Table); err != nil {
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
func (s *Store) admitAll(actions []action) error {
	var wrong reasons
	for i := range actions {
		a := &actions[i]
		if a.sh.model == nil {
			continue
		}
		if err := s.meter.admit(a.sh, capacity.Write, a.key); err != nil {
			if err := wrong.add(len(actions), i, err); err != nil {
				return err
			}
		}
	}
	return wrong.cancelled()
}

// settle does for a transaction what afford does for a single write. The units count twice.
func (s *Store) settle(c *Call, actions []action) error {
	var wrong reasons
	for i := range c.charges {
		ch := &c.charges[i]
		ch.units = ch.units.Transactional()
		if err := s.meter.allow(ch); err != nil {
			if err := wrong.add(len(actions), ch.action, err); err != nil {
				return err
			}
		}
	}
	if err := wrong.cancelled(); err != nil {
		return err
	}
	s.meter.pay(c.charges)
	return nil
}

// payCancelled charges the checks of a cancelled transaction, or of one that was done before.
func (s *Store) payCancelled(actions []action, op capacity.Op) {
	for i := range actions {
		a := &actions[i]
		if a.sh.model == nil {
			continue
		}
		units := api.WriteUnits(a.old.size, 0)
		if op == capacity.Read {
			units = api.ReadUnits(a.old.size, true)
		}
		s.meter.spend(a.sh, op, a.key, units.Transactional())
	}
}

// reasons collects the reasons why a transaction is cancelled.
type reasons []exception.CancellationReason

// add notes an error of action i of n. It returns an error that no single action is the reason of.
func (r *reasons) add(n, i int, err error) error {
	var e *exception.Error
	if !errors.As(err, &e) || expression.IsEmptyKey(err) {
		return err
	}
	reason := exception.CancellationReason{Message: e.Message, Item: e.Item}
	switch e.Kind {
	case exception.ConditionalCheckFailed:
		reason.Code = "ConditionalCheckFailed"
	case exception.Validation:
		reason.Code = "ValidationError"
	case exception.ProvisionedThroughputExceeded:
		reason.Code = "ProvisionedThroughputExceeded"
	case exception.Throttling, exception.RequestLimitExceeded:
		reason.Code = "ThrottlingError"
	case exception.ItemCollectionSizeLimitExceeded:
		reason.Code = "ItemCollectionSizeLimitExceeded"
	default:
		return err
	}
	if *r == nil {
		*r = make(reasons, n)
		for k := range *r {
			(*r)[k].Code = "None"
		}
	}
	(*r)[i] = reason
	return nil
}

// cancelled returns the transaction's error if there are reasons.
func (r reasons) cancelled() error {
	if r == nil {
		return nil
	}
	return exception.Canceled(r)
}

// transact computes a transaction. The caller holds its locks. If the token is known, the
// transaction has been done before.
func (s *Store) transact(c *Call, b *pebble.Batch, q *api.TransactWriteItems, actions []action, token []byte) (*api.TransactWriteResponse, error) {
	done := false
	if token != nil {
		digest, found, err := s.token(token)
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
		a := &actions[i]
		var err error
		if a.old, err = c.read(now{s.space.Pebble}, a.key); err != nil {
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
		s.payCancelled(actions, capacity.Write)
		return nil, err
	}
	if err := api.CheckTransactionSize(size); err != nil {
		return nil, err
	}
	r := &api.TransactWriteResponse{}
	if done {
		s.payCancelled(actions, capacity.Read)
		return r, s.answerTransact(r, q, actions, nil)
	}
	spents := make([]spent, len(actions))
	for i := range actions {
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
		if spents[i], err = s.write(c, b, a.sh, a.key, &a.old, a.new); err != nil {
			return nil, fmt.Errorf("write an item: %w", err)
		}
		for k := from; k < len(c.charges); k++ {
			c.charges[k].action = i
		}
	}
	if err := s.settle(c, actions); err != nil {
		return nil, err
	}
	if token != nil {
		if err := b.Set(token, appendTokenValue(nil, s.options.Clock(), q.Digest), nil); err != nil {
			return nil, err
		}
	}
	return r, s.answerTransact(r, q, actions, spents)
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
func (s *Store) answerTransact(r *api.TransactWriteResponse, q *api.TransactWriteItems, actions []action, spents []spent) error {
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
			if r.Metrics, err = s.addMetrics(r.Metrics, a.Table, a.sh, a.at); err != nil {
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
