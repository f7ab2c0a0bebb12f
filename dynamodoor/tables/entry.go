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
	"github.com/evenkeel/evenkeel/registry"
)

// Entry is a sharded table in use, or the error that says what is wrong with it.
type Entry struct {
	*catalog.Entry
	Plan      *plan.Table
	Wrong     error
	described time.Time
	pins      *pins        // nil: the entry is not in use
	Shift     *shift.Table // nil: the table's layout is not being changed and never was
}

// Shown returns the table with the layout by which its items are read and written. While a change is
// settled, and until it has ended, that is the new one.
func (e *Entry) Shown() *plan.Table {
	if e.Shift != nil && e.Shift.Step >= protocol.Settled {
		return e.Shift.New
	}
	return e.Plan
}

// filling reports whether the table has an index that clients cannot read yet. The store makes it
// readable without telling the door.
func (e *Entry) filling() bool {
	return e.Plan != nil && slices.ContainsFunc(e.Plan.Logical.Global, func(ix schema.Index) bool { return ix.Status != schema.Active })
}

// Unready reports whether to describe the table again because of an index that was not readable. If
// there are other doors, that happens only at intervals.
func (r *Registry) Unready(e *Entry) bool {
	return e.filling() && (!r.Shared() || r.now().Sub(e.described) > Glance)
}

// InUse reports whether requests can use the entry.
func (e *Entry) InUse() bool { return e.pins != nil }

// BusyBefore reports whether requests use an earlier state of the table.
func (e *Entry) BusyBefore() bool { return e.pins.before.busy() }

// IsState reports whether two entries belong to the same state of a table.
func (e *Entry) IsState(of *Entry) bool { return e.pins == of.pins }

// Stale reports whether to describe the physical table again.
func (r *Registry) Stale(e *Entry) bool { return e.filling() || r.now().Sub(e.described) > Glance }

// same reports whether e, which the catalogue has now, is active and equal to the entry that the
// door read before. It returns false if the door could not use that entry (Wrong).
func (in *Entry) same(e *catalog.Entry) bool {
	return in.Wrong == nil && e.State == registry.Active && equalEntries(in.Entry, e)
}

// equalEntries reports whether entries are equal. The catalogue keeps times to the millisecond.
func equalEntries(x, y *catalog.Entry) bool {
	a, b := *x, *y
	a.Started, b.Started = time.Time{}, time.Time{}
	return x.Started.UnixMilli() == y.Started.UnixMilli() && reflect.DeepEqual(a, b)
}

// sameState reports whether two entries describe the same state of a table.
func sameState(a, b *Entry) bool {
	if a.ID != b.ID || a.State != b.State || a.Physical != b.Physical || (a.Layout == nil) != (b.Layout == nil) {
		return false
	}
	return a.Layout == nil || a.Layout.Equal(b.Layout) && a.Layout.Generation == b.Layout.Generation
}

// IsPhysical reports whether a table is the physical table of a sharded one, or of one with sharded
// indexes.
func IsPhysical(t *schema.Table) bool {
	hidden := func(ix schema.Index) bool { return strings.HasPrefix(ix.Key.Hash[0], plan.HiddenPrefix) }
	return len(t.Key.Hash) > 0 && t.Key.Hash[0] == plan.PartitionKey || slices.ContainsFunc(t.Global, hidden)
}

// identity returns the TableId of a table, or its creation time if the store has no TableIds. Two
// tables of the same name have different identities.
func identity(t *schema.Table) string {
	if t.ID == "" && !t.Created.IsZero() {
		return fmt.Sprintf("created-%d", t.Created.UnixMilli())
	}
	return t.ID
}

// Kept returns a copy of a table's description. The memory of an answer belongs to the request or
// the store and ends with the answer.
func Kept(a api.Response) (*api.TableResponse, error) {
	own, err := new(api.CreateTable).DecodeResponse(new(api.Decoder), a.AppendJSON(nil))
	if err != nil {
		return nil, fmt.Errorf("read the description of a table: %w", err)
	}
	t := own.(*api.TableResponse)
	t.Describe = a.(*api.TableResponse).Describe
	return t, nil
}

// keyOf parses a partition key that attribute.KeyText wrote. For "", which means all keys, it
// returns the zero Value.
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

// KeyText returns the catalogue's form of a partition key that a user wrote.
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

// Target returns the target layout of a change.
func (e *Entry) Target(c *catalog.Change) (t plan.Target, err error) {
	t.Shape = plan.Shape{Shards: c.Shards, Width: c.Bucket, Numbers: c.Numbers, Rows: c.Rows, Max: c.Max}
	t.Places.N, t.Places.Base = c.Shards, c.Base
	t.Key, err = e.keyOf(c.Key)
	return t, err
}

// changing prepares an entry in use for its change of layout. It returns an error if this version
// of the door does not know the change's step.
func (e *Entry) changing() error {
	c := e.Change
	if c != nil && c.Second != "" && (c.Step == catalog.Preparing || c.Step == catalog.Leaving) {
		return nil
	}
	if c == nil || c.Step == catalog.Dropping || c.Step == catalog.Preparing {
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
	t := &shift.Table{Old: e.Plan, Key: target.Key, Step: step, Generation: e.Layout.Generation, Began: c.Began, Floor: e.Floor}
	if c.Second != "" {
		t.New = e.Plan.Second(c.Second, c.SecondID, target)
	} else {
		t.New = e.Plan.To(target)
	}
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

// Freezes returns Change.Began if partition keys get no further shards because the table gets or leaves
// strategy rollover, and 0 otherwise.
func (e *Entry) Freezes() int64 {
	if e.Shift == nil || !e.Shift.Rolls() {
		return 0
	}
	return e.Change.Began
}

// HiddenKey is the partition key of physical tables, as it appears in answers.
var HiddenKey = []byte(`"` + plan.PartitionKey + `"`)

// hiddenShard is the beginning of the names of shards in indexes, as it appears in answers.
var hiddenShard = []byte(`"` + plan.HiddenPrefix + "s.")

// ShowsHidden reports whether an answer may contain a hidden attribute. It looks for more than the
// names' common prefix: a value that begins with the prefix must not cause a lookup of the table at
// each read.
func ShowsHidden(answer []byte) bool {
	return bytes.Contains(answer, HiddenKey) || bytes.Contains(answer, hiddenShard)
}
