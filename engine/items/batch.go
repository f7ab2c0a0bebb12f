package items

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// maxAnswer is how many bytes of items a BatchGetItem reads at most; what is left
// is unprocessed. As with AWS.
const maxAnswer = 16 << 20

func (s *Store) batchGetItem(c *Call, q *api.BatchGetItem) (api.Response, error) {
	shapes := make([]*shape, len(q.Tables))
	for i := range q.Tables {
		g := &q.Tables[i]
		t, err := s.table(g.Table)
		if err != nil {
			return nil, err
		}
		shapes[i] = t.shape.Load()
		seen := make(map[string]bool, len(g.Keys))
		for _, key := range g.Keys {
			if err := shapes[i].Table.CheckKey(key); err != nil {
				return nil, err
			}
			c.key = s.appendItemKey(c.key[:0], shapes[i], key)
			if seen[string(c.key)] {
				return nil, exception.Invalid("Provided list of item keys contains duplicates")
			}
			seen[string(c.key)] = true
		}
	}
	r := &api.BatchGetResponse{}
	size := 0
	for i := range q.Tables {
		g := &q.Tables[i]
		found := api.BatchGetItems{Table: g.Table}
		var units api.Units
		for k, key := range g.Keys {
			if size >= maxAnswer {
				left := *g
				left.Keys = g.Keys[k:]
				r.Unprocessed = append(r.Unprocessed, left)
				break
			}
			st, err := s.find(c, now{s.space.Pebble}, shapes[i], key)
			if err != nil {
				return nil, err
			}
			size += st.size
			units += api.ReadUnits(st.size, g.Consistent)
			text, err := c.project(&st, g.Projection)
			if err != nil {
				return nil, err
			}
			if st.exists {
				found.Items = append(found.Items, text)
			}
		}
		r.Tables = append(r.Tables, found)
		if q.Capacity != api.CapacityNone {
			r.Capacity = append(r.Capacity, *readCapacity(g.Table, q.Capacity, units))
		}
	}
	return r, nil
}

// put is one write of a batch, made ready.
type put struct {
	sh   *shape
	key  []byte
	item attribute.Item // nil: delete
	at   attribute.Item // has the table's key at least
}

// batchWriteItem writes all at once: that it is also all or nothing is more than
// is promised.
func (s *Store) batchWriteItem(c *Call, q *api.BatchWriteItem) (api.Response, error) {
	var in entered
	puts, err := s.preparePuts(&in, q)
	if err != nil {
		in.leave()
		return nil, err
	}
	keys := make([][]byte, len(puts))
	for i := range puts {
		keys[i] = puts[i].key
	}
	h := &c.held
	h.lockAll(&s.locks, keys)
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	spents := make([]spent, len(puts))
	for i := range puts {
		p := &puts[i]
		var old stored
		if p.item == nil || p.sh.needsOld() || q.Capacity != api.CapacityNone {
			old, err = c.read(now{s.space.Pebble}, p.key)
		}
		if err == nil {
			spents[i], err = s.write(c, b, p.sh, p.key, &old, p.item)
		}
		if err != nil {
			h.unlock()
			in.leave()
			return nil, fmt.Errorf("write an item: %w", err)
		}
	}
	if b.Empty() {
		err = s.refuse(h, in.leave)
	} else {
		err = s.commit(h, b, in.leave)
	}
	if err != nil {
		return nil, err
	}
	return s.answerBatch(q, puts, spents)
}

// preparePuts checks a batch before anything is read.
func (s *Store) preparePuts(in *entered, q *api.BatchWriteItem) ([]put, error) {
	var puts []put
	seen := map[string]bool{}
	for i := range q.Tables {
		bt := &q.Tables[i]
		sh, err := s.enter(in, bt.Table)
		if err != nil {
			return nil, err
		}
		for _, w := range bt.Writes {
			p := put{sh: sh, item: w.Item, at: w.Item}
			if w.Item != nil {
				// What is wrong with a key is told as of a key.
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
			p.key = s.appendItemKey(nil, sh, p.at)
			if seen[string(p.key)] {
				return nil, exception.Invalid("Provided list of item keys contains duplicates")
			}
			seen[string(p.key)] = true
			puts = append(puts, p)
		}
	}
	return puts, nil
}

func (s *Store) answerBatch(q *api.BatchWriteItem, puts []put, spents []spent) (api.Response, error) {
	r := &api.BatchWriteResponse{}
	for i := range puts {
		name := puts[i].sh.Table.Name
		if q.Capacity != api.CapacityNone {
			r.Capacity = addCapacity(r.Capacity, spents[i].consumed(puts[i].sh, q.Capacity, name))
		}
		if q.Metrics && len(puts[i].sh.Table.Local) > 0 {
			var err error
			if r.Metrics, err = s.addMetrics(r.Metrics, name, puts[i].sh, puts[i].at); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}
