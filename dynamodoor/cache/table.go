// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// tables holds what the cache knows of tables, by name. It contains only tables of which the store
// has answered a read.
type tables struct {
	known sync.Map   // of string to *table
	mu    sync.Mutex // held while learning
}

// table is what the cache knows of a table. It is immutable; the cache replaces it.
type table struct {
	key     []string // the attributes of the primary key, in the order of their names
	defined uint64   // the count of changes of the table with which this is valid

	expiry    string    // the attribute of Time to Live; empty: none
	asked     time.Time // when the store was asked for it; zero: never
	unsettled bool      // the store could not answer
}

// keyOf returns the attributes of a table's primary key, or nil if they are unknown.
func (c *Cache) keyOf(name string) []string {
	name = api.TableName(name)
	v, ok := c.tables.known.Load(name)
	if !ok {
		return nil
	}
	t := v.(*table)
	if v := c.fence.Definition(c.fence.Table(name)); !v.Quiet || v.Count != t.defined {
		return nil
	}
	return t.key
}

// expiryAgain is the time after which the cache asks a store again that could not answer.
const expiryAgain = time.Minute

// learn notes a table after the store has answered the read of an item. The attributes of the
// request's key are the attributes of the table's key. defined is the view from before the read.
func (c *Cache) learn(ctx context.Context, name string, key attribute.Item, defined cachefence.View) *table {
	name = api.TableName(name)
	if v, ok := c.tables.known.Load(name); ok {
		if t := v.(*table); t.defined == defined.Count && t.is(key) && t.fresh(c.options.Now(), c.options.TTL) {
			return t
		}
	}
	// The store may take long to answer. Meanwhile, other reads keep nothing.
	if !c.tables.mu.TryLock() {
		return nil
	}
	defer c.tables.mu.Unlock()
	name = strings.Clone(name)
	t := &table{defined: defined.Count}
	for i := range key {
		t.key = append(t.key, strings.Clone(key[i].Name))
	}
	now := c.options.Now()
	if v, ok := c.tables.known.Load(name); ok {
		old := v.(*table)
		if old.defined == t.defined && !slices.Equal(old.key, t.key) {
			// The table is another one, created elsewhere under this name. The cache has counted
			// puts as writes to wrong keys.
			e := c.fence.Table(name)
			e.Items.Begin()
			e.Items.End(0)
		}
		if old.defined == t.defined && old.fresh(now, c.options.TTL) {
			t.expiry, t.asked, t.unsettled = old.expiry, old.asked, old.unsettled
		}
	}
	if t.asked.IsZero() {
		t.asked = now
		t.askExpiry(principal.With(context.WithoutCancel(ctx), principal.Principal{}), c, name)
	}
	if defined.Holds(c.fence.Definition(c.fence.Table(name))) {
		c.tables.known.Store(name, t)
	}
	return t
}

// is reports whether the attributes of a key are those of the table's key.
func (t *table) is(key attribute.Item) bool {
	return slices.EqualFunc(t.key, key, func(name string, a attribute.Attribute) bool { return name == a.Name })
}

// fresh reports whether the known Time to Live of the table may be used.
func (t *table) fresh(now time.Time, ttl time.Duration) bool {
	if t.unsettled {
		ttl = min(ttl, expiryAgain)
	}
	return !t.asked.IsZero() && now.Sub(t.asked) < ttl
}

// askExpiry asks the store, with the door's own rights, for the attribute of Time to Live.
func (t *table) askExpiry(ctx context.Context, c *Cache, name string) {
	answer, err := c.store.Do(ctx, "DescribeTimeToLive", append(jsontext.AppendString([]byte(`{"TableName":`), name), '}'), nil)
	if err != nil {
		t.unsettled = true
		c.options.Log.Warn("dynamodb: the cache does not know the table's Time to Live: expired items may be shown for as long as an item is kept; "+
			"let the door's own credentials describe it (dynamodb:DescribeTimeToLive)", "table", name, "error", err)
		return
	}
	enabled, attributeName := false, ""
	var r jsontext.Reader
	r.Reset(answer)
	for r.Object(); r.Next(); {
		if r.Name() != "TimeToLiveDescription" || r.Peek() != jsontext.Object {
			r.Skip()
			continue
		}
		for r.Object(); r.Next(); {
			switch {
			case r.Name() == "TimeToLiveStatus" && r.Peek() == jsontext.String:
				enabled = strings.HasPrefix(r.Text(), "ENABL") // ENABLED or ENABLING
			case r.Name() == "AttributeName" && r.Peek() == jsontext.String:
				attributeName = strings.Clone(r.Text())
			default:
				r.Skip()
			}
		}
	}
	if enabled {
		t.expiry = attributeName
	}
}

// oldest is the largest age of an expiry with which the store still removes an item, as with AWS.
const oldest = 5 * 365 * 24 * time.Hour

// expires returns the time until which an item may be kept: at most life, or the item's own expiry,
// after which the store may remove it at any time. If the text does not contain the item's expiry,
// the item is not kept.
func (t *table) expires(text []byte, p *expression.Projection, life int64, now time.Time) int64 {
	if t == nil {
		return 0
	}
	if t.expiry == "" || text == nil {
		return life
	}
	if !p.Has(t.expiry) {
		return 0
	}
	at, ok := secondsOf(text, t.expiry)
	if !ok || now.Sub(time.Unix(at, 0)) > oldest {
		return life
	}
	if at > life/int64(time.Second) {
		return life
	}
	return at * int64(time.Second)
}

// secondsOf returns the whole part of the number in an attribute of an item.
func secondsOf(item []byte, name string) (n int64, ok bool) {
	var r jsontext.Reader
	r.Reset(item)
	for r.Object(); r.Next(); {
		if r.Name() != name || r.Peek() != jsontext.Object {
			r.Skip()
			continue
		}
		for r.Object(); r.Next(); {
			if r.Name() != "N" || r.Peek() != jsontext.String {
				r.Skip()
				continue
			}
			whole, _, _ := strings.Cut(r.Text(), ".")
			var err error
			n, err = strconv.ParseInt(whole, 10, 64)
			ok = err == nil && n > 0
		}
	}
	return n, ok && r.Err() == nil
}
