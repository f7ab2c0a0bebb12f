// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is the catalogue's own table, which clients do not see.
const Table = "evenkeel"

// Store is the store that holds the catalogue.
type Store interface {
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)
	Answer(ctx context.Context, q api.Request, use func(api.Response) error) error
}

// Entry is the catalogue's description of one table. It is immutable.
type Entry struct {
	Table    string // the logical table's name
	Physical string // the physical table's name
	ID       string // TableId of the physical table; empty while Creating
	State    registry.State
	Layout   *shard.Layout            // nil: only indexes are sharded
	Affix    *shard.Affix             // nil: the table was not sharded by hand
	Indexes  map[string]*shard.Layout // of sharded global indexes, by name
	Single   map[string]bool          // the Indexes whose shard is their only partition key attribute
	Filling  map[string]bool          // the Indexes in which items may have no shard yet
	Version  int64                    // counts the entry's changes while Active
	Hash     string                   // the logical partition key, which the physical table does not name
	HashType string                   // S, N or B
	Started  time.Time
	Rule     string         // the label of the shard rule that declared the table sharded; "": its own tags did
	Plain    bool           // the table shall look plain: its keys have one shard
	Own      map[string]Own // keys with their own number of shards, as attribute.KeyText writes them
	Change   *Change        // the change of the layout that is under way; nil: none
	Floor    int64          // Scans that began in an earlier generation cannot continue
}

// Catalog reads and writes entries. It keeps no state itself.
type Catalog struct {
	store Store
	now   func() time.Time
}

// New returns the catalogue in a store.
func New(store Store, now func() time.Time) *Catalog { return &Catalog{store: store, now: now} }

// item is an entry in its stored form.
type item struct {
	Table    text `json:"table"`
	Physical text `json:"physical"`
	ID       text `json:"id"`
	State    text `json:"state"`
	Strategy text `json:"strategy"`
	Shards   num  `json:"shards"`
	Gen      num  `json:"generation"`
	Hash     text `json:"hash"`
	HashType text `json:"hash_type"`
	Started  num  `json:"started"`
	Indexes  nums `json:"indexes"`

	Adopted *adopted `json:"adopted,omitempty"`
	Time    *timed   `json:"time,omitempty"`
	Rolling *rolling `json:"rolling,omitempty"`
	Single  *bits    `json:"single,omitempty"`
	Filling *bits    `json:"filling,omitempty"`
	Version num      `json:"version"`
	Rule    *text    `json:"rule,omitempty"`

	Change *change `json:"change,omitempty"`
	Floor  *num    `json:"floor,omitempty"`
	Places *places `json:"places,omitempty"`
}

// frontPrefix precedes the strategy in an entry of a table whose keys begin with the shard. A door of an
// earlier release would look for the shard at their end. It does not know such a strategy, and does not
// serve.
const frontPrefix = "prefix, "

// afterPrefix precedes the strategy in the entry of a table that had buckets of time before it got its
// layout, or that got buckets of time while clients used it. A door of an earlier release would look for
// the items at other places. Such a door does not know this strategy, and does not serve the table.
const afterPrefix = "after, "

// afterBuckets reports whether an entry with this layout needs afterPrefix.
func afterBuckets(l *shard.Layout) bool { return l.Base >= shard.Lot/2 }

// adopted is the part of an entry for a table that was sharded by hand.
type adopted struct {
	M struct {
		Separator text `json:"separator"`
		First     num  `json:"first"`
		Suffixed  bit  `json:"suffixed"` // Alike
		Hash      text `json:"hash"`     // hash of the sort key; empty: none
	}
}

type text struct{ S string }
type num struct{ N string }
type bit struct{ BOOL bool }
type bits struct{ M map[string]bit }

// bitsOf returns the names whose value is true, or nil if there are none.
func bitsOf(m map[string]bool) (b *bits) {
	for name, is := range m {
		if is && b == nil {
			b = &bits{make(map[string]bit)}
		}
		if is {
			b.M[name] = bit{true}
		}
	}
	return b
}

func (b *bits) names() (m map[string]bool) {
	if b != nil {
		m = make(map[string]bool, len(b.M))
		for name := range b.M {
			m[name] = true
		}
	}
	return m
}

type nums struct{ M map[string]num }

func number(n int64) num { return num{strconv.FormatInt(n, 10)} }

func (e *Entry) item() item {
	i := item{
		Table: text{e.Table}, Physical: text{e.Physical}, ID: text{e.ID}, State: text{string(e.State)},
		Shards: number(0), Gen: number(0), Indexes: nums{make(map[string]num)}, Single: bitsOf(e.Single), Filling: bitsOf(e.Filling), Version: number(e.Version),
		Hash: text{e.Hash}, HashType: text{e.HashType}, Started: number(e.Started.UnixMilli()),
	}
	if e.Layout != nil {
		i.Strategy, i.Shards, i.Gen = text{e.Layout.Strategy.String()}, number(int64(e.Layout.N)), number(e.Layout.Generation)
	}
	if e.Rule != "" {
		i.Rule = &text{e.Rule}
	}
	if e.Layout != nil && afterBuckets(e.Layout) {
		i.Strategy.S = afterPrefix + i.Strategy.S
	}
	i.setTime(e)
	i.setRolling(e)
	i.setChange(e)
	i.setPlaces(e)
	for name, l := range e.Indexes {
		i.Indexes.M[name] = number(int64(l.N))
	}
	if s := e.Affix; s != nil {
		i.Adopted = new(adopted)
		i.Adopted.M.Separator, i.Adopted.M.First, i.Adopted.M.Suffixed = text{s.Separator}, number(int64(s.First)), bit{s.Alike}
		if e.Layout.Strategy == shard.Calculated {
			i.Adopted.M.Hash = text{e.Layout.Hash.String()}
		}
		if s.Front {
			i.Strategy.S = frontPrefix + i.Strategy.S
		}
	}
	return i
}

// layout returns the layout with a number of shards, or nil for 0. hash may be empty.
func (i *item) layout(strategy, shards, hash string) (*shard.Layout, error) {
	switch {
	case shards == "0":
		return nil, nil
	case strategy == shard.Time.String():
		return i.readTime(shards)
	case strategy == shard.Rollover.String():
		return i.readRolling()
	}
	options := map[string]string{"strategy": strategy, "shards": shards}
	if hash != "" {
		options["hash"] = hash
	}
	l, err := shard.Parse(options)
	if err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: %w", i.Table.S, err)
	}
	return l, nil
}

func (i *item) entry() (*Entry, error) {
	if i.State.S == "" && i.Shards.N == "" && i.Gen.N == "" { // every entry has them
		return nil, ErrForeign
	}
	var affix *shard.Affix
	hash := ""
	if a := i.Adopted; a != nil {
		first, err := strconv.Atoi(a.M.First.N)
		if err != nil {
			return nil, fmt.Errorf("the catalogue's entry of %s: first shard %q", i.Table.S, a.M.First.N)
		}
		affix, hash = &shard.Affix{Separator: a.M.Separator.S, First: first, Alike: a.M.Suffixed.BOOL}, a.M.Hash.S
	}
	strategy, front := strings.CutPrefix(strings.TrimPrefix(i.Strategy.S, afterPrefix), frontPrefix)
	if front && affix != nil {
		affix.Front = true
	}
	l, err := i.layout(strategy, i.Shards.N, hash)
	if err != nil {
		return nil, err
	}
	var indexes map[string]*shard.Layout
	for name, n := range i.Indexes.M {
		if indexes == nil {
			indexes = make(map[string]*shard.Layout)
		}
		if indexes[name], err = i.layout(shard.Calculated.String(), n.N, ""); err != nil {
			return nil, err
		}
	}
	generation, err := strconv.ParseInt(i.Gen.N, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: generation %q", i.Table.S, i.Gen.N)
	}
	started, err := strconv.ParseInt(i.Started.N, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: time %q", i.Table.S, i.Started.N)
	}
	version := int64(0) // old entries have no version
	if i.Version.N != "" {
		if version, err = strconv.ParseInt(i.Version.N, 10, 64); err != nil {
			return nil, fmt.Errorf("the catalogue's entry of %s: version %q", i.Table.S, i.Version.N)
		}
	}
	if l != nil {
		l.Generation = generation
	}
	e := &Entry{
		Table: i.Table.S, Physical: i.Physical.S, ID: i.ID.S, State: registry.State(i.State.S), Layout: l, Affix: affix, Indexes: indexes,
		Single: i.Single.names(), Filling: i.Filling.names(), Version: version,
		Hash: i.Hash.S, HashType: i.HashType.S, Started: time.UnixMilli(started),
	}
	if i.Rule != nil {
		e.Rule = i.Rule.S
	}
	if err := i.readPlaces(e); err != nil {
		return nil, err
	}
	return e, i.readChange(e)
}

// call carries out an operation.
func (c *Catalog) call(ctx context.Context, operation string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("catalogue: %w", err)
	}
	out, err := c.store.Do(ctx, operation, body, nil)
	if is(err, exception.Validation) { // the catalogue's requests fit the catalogue's table
		return ErrForeign
	}
	if err != nil {
		return fmt.Errorf("catalogue: %s: %w", operation, err)
	}
	if answer == nil || len(out) == 0 {
		return nil
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("catalogue: %s: %w", operation, err)
	}
	return nil
}

// ErrForeign reports that the catalogue's table is another program's. SDKs do not repeat the request.
var ErrForeign = exception.Invalid("evenkeel: table " + Table + " of the DynamoDB endpoint is not evenkeel's catalogue of sharded tables, but another program's; " +
	"give that table another name, or start this door with --dynamodb-sharding off")

func is(err error, k exception.Kind) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Kind == k
}

// All returns all entries. It returns none if there is no catalogue yet.
func (c *Catalog) All(ctx context.Context) ([]*Entry, error) {
	var all []*Entry
	err := c.scan(ctx, map[string]any{"TableName": Table, "ConsistentRead": true}, func(i *item) error {
		if isStream(i.Table.S) {
			return nil
		}
		e, err := i.entry()
		all = append(all, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// scan visits the items of a Scan. It visits none if there is no catalogue yet.
func (c *Catalog) scan(ctx context.Context, request map[string]any, visit func(*item) error) error {
	for {
		var page struct {
			Items            []item
			LastEvaluatedKey json.RawMessage
		}
		if err := c.call(ctx, "Scan", request, &page); err != nil {
			if is(err, exception.ResourceNotFound) {
				return nil
			}
			return err
		}
		for i := range page.Items {
			if err := visit(&page.Items[i]); err != nil {
				return err
			}
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		request["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// longestKey is the largest size of a partition key in bytes.
const longestKey = 2048

// Get returns the entry of a table, or nil if there is none.
func (c *Catalog) Get(ctx context.Context, table string) (*Entry, error) {
	if table == "" || len(table) > longestKey {
		return nil, nil // not a valid key
	}
	var found struct{ Item *item }
	err := c.call(ctx, "GetItem", map[string]any{"TableName": Table, "ConsistentRead": true, "Key": map[string]any{"table": text{table}}}, &found)
	if is(err, exception.ResourceNotFound) {
		return nil, nil
	}
	if err != nil || found.Item == nil {
		return nil, err
	}
	return found.Item.entry()
}

// ErrExists reports that the table has an entry already.
var ErrExists = errors.New("the table is in the catalogue already")

// Begin notes that a table is about to be created. It returns ErrExists if the table has an entry.
func (c *Catalog) Begin(ctx context.Context, e Entry) (*Entry, error) {
	e.State, e.ID = registry.Creating, ""
	return c.add(ctx, e)
}

// Adopt notes that an existing table that was sharded by hand is a sharded one. It returns
// ErrExists if the table has an entry.
func (c *Catalog) Adopt(ctx context.Context, e Entry) (*Entry, error) {
	e.State = registry.Active
	return c.add(ctx, e)
}

// add adds an entry. It creates the catalogue's table if there is none.
func (c *Catalog) add(ctx context.Context, e Entry) (*Entry, error) {
	e.Started = c.now()
	for attempt := 0; ; attempt++ {
		err := c.put(ctx, &e, "attribute_not_exists(#t)", map[string]string{"#t": "table"}, nil)
		switch {
		case err == nil:
			return &e, nil
		case is(err, exception.ConditionalCheckFailed):
			return nil, ErrExists
		case !is(err, exception.ResourceNotFound) || attempt > 0:
			return nil, err
		}
		if err := c.create(ctx); err != nil {
			return nil, err
		}
	}
}

// create creates the catalogue's table and waits until it can be used.
func (c *Catalog) create(ctx context.Context) error {
	return c.createTable(ctx, Table, [2]string{"table", "S"})
}

// createTable creates a table of the door's own, unless it exists, and waits until it can be used.
// key are the names and types of the partition key and, if there is one, of the sort key.
func (c *Catalog) createTable(ctx context.Context, name string, key ...[2]string) error {
	var definitions, schema []any
	for i, k := range key {
		definitions = append(definitions, map[string]string{"AttributeName": k[0], "AttributeType": k[1]})
		schema = append(schema, map[string]string{"AttributeName": k[0], "KeyType": []string{"HASH", "RANGE"}[i]})
	}
	err := c.call(ctx, "CreateTable", map[string]any{
		"TableName": name, "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": definitions, "KeySchema": schema,
	}, nil)
	if err != nil && !is(err, exception.ResourceInUse) {
		return err
	}
	for {
		var d struct{ Table struct{ TableStatus string } }
		if err := c.call(ctx, "DescribeTable", map[string]any{"TableName": name}, &d); err == nil && d.Table.TableStatus == "ACTIVE" {
			return nil
		}
		if err := deadline.Sleep(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("catalogue: wait for table %s: %w", name, err)
		}
	}
}

func (c *Catalog) put(ctx context.Context, e *Entry, condition string, names map[string]string, values map[string]any) error {
	request := map[string]any{"TableName": Table, "Item": e.item(), "ConditionExpression": condition, "ExpressionAttributeNames": names}
	if values != nil {
		request["ExpressionAttributeValues"] = values
	}
	return c.call(ctx, "PutItem", request, nil)
}

// move replaces an entry that is in a certain state and has a certain version.
func (c *Catalog) move(ctx context.Context, e *Entry, from registry.State, version int64) error {
	condition, values := "#s = :s AND #v = :v", map[string]any{":s": text{string(from)}, ":v": number(version)}
	if version == 0 {
		condition = "#s = :s AND (attribute_not_exists(#v) OR #v = :v)" // old entries have no version
	}
	return c.put(ctx, e, condition, map[string]string{"#s": "state", "#v": "version"}, values)
}

// ErrChanged reports that an entry has changed since it was read.
var ErrChanged = errors.New("the table's entry in the catalogue was changed")

// Change writes an active entry with the next version. It returns ErrChanged if the entry has
// changed since it was read.
func (c *Catalog) Change(ctx context.Context, e Entry) (*Entry, error) {
	version := e.Version
	e.Version++
	err := c.move(ctx, &e, registry.Active, version)
	if is(err, exception.ConditionalCheckFailed) {
		return nil, ErrChanged
	}
	return &e, err
}

// Activate notes that the physical table exists.
func (c *Catalog) Activate(ctx context.Context, e *Entry, id string) (*Entry, error) {
	a := *e
	a.ID, a.State = id, registry.Active
	return &a, c.move(ctx, &a, e.State, e.Version)
}

// Drop notes that the table is about to be deleted.
func (c *Catalog) Drop(ctx context.Context, e *Entry) (*Entry, error) {
	d := *e
	d.State, d.Started = registry.Dropping, c.now()
	return &d, c.move(ctx, &d, e.State, e.Version)
}

// Keep notes that the table was not deleted after all.
func (c *Catalog) Keep(ctx context.Context, e *Entry) error {
	a := *e
	a.State = registry.Active
	return c.move(ctx, &a, e.State, e.Version)
}

// MarkDeleted notes that the physical table is deleted, and keeps the name until Remove.
func (c *Catalog) MarkDeleted(ctx context.Context, e *Entry) error {
	d := *e
	d.State, d.Started = registry.Dropped, c.now()
	return c.move(ctx, &d, e.State, e.Version)
}

// Remove removes the entry if it is still in its state and belongs to the same table.
func (c *Catalog) Remove(ctx context.Context, e *Entry) error {
	condition, names, values := "#s = :s", map[string]string{"#s": "state"}, map[string]any{":s": text{string(e.State)}}
	if e.ID != "" {
		condition += " AND #i = :i"
		names["#i"], values[":i"] = "id", text{e.ID}
	}
	err := c.call(ctx, "DeleteItem", map[string]any{
		"TableName": Table, "Key": map[string]any{"table": text{e.Table}}, "ConditionExpression": condition,
		"ExpressionAttributeNames": names, "ExpressionAttributeValues": values,
	}, nil)
	if is(err, exception.ConditionalCheckFailed) || is(err, exception.ResourceNotFound) {
		return nil // another request has removed it
	}
	return err
}

// Settle carries out the verdict of registry.Judge on an unfinished entry. id is the TableId of its
// physical table, for registry.Activate. It returns the new entry, or nil if it removed the entry.
func (c *Catalog) Settle(ctx context.Context, e *Entry, a registry.Action, id string) (*Entry, error) {
	switch a {
	case registry.Activate:
		return c.Activate(ctx, e, id)
	case registry.Remove:
		return nil, c.Remove(ctx, e)
	}
	return e, nil
}
