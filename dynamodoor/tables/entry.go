// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
)

// Entry is a sharded table in use, or what is wrong with it.
type Entry struct {
	*catalog.Entry
	Plan      *plan.Table
	Wrong     error
	described time.Time
	pins      *pins        // nil of one that is not in use
	Shift     *shift.Table // of a table whose layout is being changed, or was; else nil
}

// filling tells whether the table has an index that is not ready to be read: the
// store makes it so without telling.
func (e *Entry) filling() bool {
	return e.Plan != nil && slices.ContainsFunc(e.Plan.Logical.Global, func(ix schema.Index) bool { return ix.Status != schema.Active })
}

// Unready tells whether to look at an index anew that was not ready to be read. Where other
// doors are, that is done once in a while.
func (e *Entry) Unready(shared bool) bool {
	return e.filling() && (!shared || time.Since(e.described) > Glance)
}

// InUse tells whether requests can go by the entry.
func (e *Entry) InUse() bool { return e.pins != nil }

// BusyBefore tells whether requests go by a state of the table before this one.
func (e *Entry) BusyBefore() bool { return e.pins.before.busy() }

// IsState tells whether two entries are of one state of a table.
func (e *Entry) IsState(of *Entry) bool { return e.pins == of.pins }

// Stale tells whether to look at the physical table anew.
func (e *Entry) Stale() bool { return e.filling() || time.Since(e.described) > Glance }

// same tells whether an entry is in order, and as the catalogue has it.
func (in *Entry) same(e *catalog.Entry) bool {
	return in.Wrong == nil && e.State == catalog.Active && equalEntries(in.Entry, e)
}

// equalEntries compares entries, whose times the catalogue keeps to the millisecond.
func equalEntries(x, y *catalog.Entry) bool {
	a, b := *x, *y
	a.Started, b.Started = time.Time{}, time.Time{}
	return x.Started.UnixMilli() == y.Started.UnixMilli() && reflect.DeepEqual(a, b)
}

// sameState tells whether two entries are about one state of a table.
func sameState(a, b *Entry) bool {
	if a.ID != b.ID || a.State != b.State || a.Physical != b.Physical || (a.Layout == nil) != (b.Layout == nil) {
		return false
	}
	return a.Layout == nil || a.Layout.Equal(b.Layout) && a.Layout.Generation == b.Layout.Generation
}

// IsPhysical tells whether a table is the physical table of a sharded one, or of
// one with sharded indexes.
func IsPhysical(t *schema.Table) bool {
	hidden := func(ix schema.Index) bool { return strings.HasPrefix(ix.Key.Hash[0], plan.HiddenPrefix) }
	return len(t.Key.Hash) > 0 && t.Key.Hash[0] == plan.PartitionKey || slices.ContainsFunc(t.Global, hidden)
}

// identity is what tells a table from others that had its name: its TableId, or
// where the store has none the time that it was made.
func identity(t *schema.Table) string {
	if t.ID == "" && !t.Created.IsZero() {
		return fmt.Sprintf("created-%d", t.Created.UnixMilli())
	}
	return t.ID
}

// Kept is the description of a table in memory of its own: an answer's is the
// request's, or the store's, and ends with it.
func Kept(a api.Response) (*api.TableResponse, error) {
	own, err := new(api.CreateTable).DecodeResponse(new(api.Decoder), a.AppendJSON(nil))
	if err != nil {
		return nil, fmt.Errorf("read the description of a table: %w", err)
	}
	t := own.(*api.TableResponse)
	t.Describe = a.(*api.TableResponse).Describe
	return t, nil
}

// keyOf reads the partition key of a wish; Invalid where it is of all.
func (e *Entry) keyOf(text string) (attribute.Value, error) {
	if text == "" {
		return attribute.Value{}, nil
	}
	kind, _ := attribute.KindOf(e.HashType)
	v, err := attribute.ParseKeyText(text, kind)
	if err != nil {
		return v, exception.Invalid("the key %q is no %s, as the partition key of table %s is", text, e.HashType, e.Table)
	}
	return v, nil
}

// KeyText is a partition key, as a user writes it, as the catalogue has it.
func (e *Entry) KeyText(key string) (string, error) {
	if kind, _ := attribute.KindOf(e.HashType); kind == attribute.B {
		raw, err := base64.StdEncoding.DecodeString(key)
		if err != nil || len(raw) == 0 {
			return "", exception.Invalid("the key %q is not base64, which binary keys are written in", key)
		}
		return attribute.KeyText(attribute.Binary(string(raw))), nil
	}
	v, err := e.keyOf(key)
	if err == nil && key == "" {
		err = exception.Invalid("the key is empty, which no partition key is")
	}
	return strings.Clone(attribute.KeyText(v)), err
}

// Target is what a change leads to.
func (e *Entry) Target(c *catalog.Change) (t plan.Target, err error) {
	t.N, t.Base = c.Shards, c.Base
	t.Key, err = e.keyOf(c.Key)
	return t, err
}

// changing readies an entry in use for its change of layout. The error is that this
// version of the door does not know the change's step.
func (e *Entry) changing() error {
	c := e.Change
	if c == nil {
		if e.Floor > 0 {
			e.Plan = e.Plan.Strict()
			e.Shift = &shift.Table{Old: e.Plan, New: e.Plan, Generation: e.Layout.Generation, Floor: e.Floor}
		}
		return nil
	}
	step, err := protocol.ParseStep(c.Step)
	if err != nil {
		return err
	}
	if e.Floor > 0 {
		e.Plan = e.Plan.Strict()
	}
	target, err := e.Target(c)
	if err != nil {
		return err
	}
	t := &shift.Table{Old: e.Plan, New: e.Plan.To(target), Key: target.Key, Step: step, Generation: e.Layout.Generation, Floor: e.Floor}
	switch {
	case step < protocol.Settled:
		t.New = t.New.MovingFrom(t.Old)
	case step == protocol.Settled:
		t.Settled = e.Layout.Generation
	default:
		t.Settled = e.Floor
	}
	e.Shift = t
	return nil
}

// HiddenKey is the partition key of physical tables, as answers have it.
var HiddenKey = []byte(`"` + plan.PartitionKey + `"`)

// hiddenShard begins the names of the shards in indexes, as answers have them.
var hiddenShard = []byte(`"` + plan.HiddenPrefix + "s.")

// ShowsHidden tells whether an answer may have a hidden attribute. That a value begins
// as their names do is no reason to look a table up at each read of it.
func ShowsHidden(answer []byte) bool {
	return bytes.Contains(answer, HiddenKey) || bytes.Contains(answer, hiddenShard)
}
