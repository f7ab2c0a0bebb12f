// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Direct is a plan of one physical request.
type Direct struct {
	// Request is the request to the store.
	Request api.Request

	// Buckets are the buckets of time that must be in the directory before the request is sent,
	// because it may put items there.
	Buckets []Bucket

	// Filled are the items that the request may create in tables of strategy rollover.
	Filled []Filled

	// answer converts the store's answer into the client's, in place.
	answer func(api.Response) error
	// of returns the sharded table of a part of the request, or nil for a plain table. If of itself
	// is nil, errors show their items with only the hidden attributes removed.
	of func(part int) *Table
}

// Answer converts the store's answer, in place, into the client's and returns it.
func (d *Direct) Answer(r api.Response) (api.Response, error) {
	if err := d.answer(r); err != nil {
		return nil, err
	}
	return r, nil
}

// Err implements Plan.
func (d *Direct) Err(err error) error { return visibleError(err, d.of) }

// String implements Plan.
func (d *Direct) String() string { return d.Request.(api.ItemRequest).Describe() }

// visibleError returns an error with its items as the client knows them.
func visibleError(err error, of func(part int) *Table) error {
	var e *exception.Error
	if !errors.As(err, &e) || len(e.Item) == 0 && len(e.Reasons) == 0 {
		return err
	}
	visible := *e
	visible.Raw = nil
	show := func(part int, item attribute.Encoded) attribute.Encoded {
		if of == nil {
			return Strip(item)
		}
		if t := of(part); t != nil {
			return t.showCopy(item)
		}
		return slices.Clone(item)
	}
	if len(e.Item) > 0 {
		visible.Item = show(0, e.Item)
	}
	visible.Reasons = append([]exception.CancellationReason(nil), e.Reasons...)
	for i := range visible.Reasons {
		if item := visible.Reasons[i].Item; len(item) > 0 {
			visible.Reasons[i].Item = show(i, item)
		}
	}
	return &visible
}
