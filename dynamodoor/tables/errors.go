// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

// Exists returns the error of a CreateTable of a table that exists.
func Exists(name string) error {
	return exception.New(exception.ResourceInUse, "Table already exists: %s", name)
}

// BeingChanged returns the error of a request on a table that another request is changing.
func BeingChanged(name string) error {
	return exception.New(exception.ResourceInUse, "table %s is being changed by another request, or was deleted a moment ago; try again", name)
}

// NotThere returns the error of a request on a table that does not exist.
func NotThere(name string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
}

// ErrNoTable is the error of a request on items of a table that does not exist.
var ErrNoTable = exception.New(exception.ResourceNotFound, "Requested resource not found")

// Orphan returns the error of a request on a physical table without an entry.
func Orphan(name string) error {
	return exception.Invalid("table %s is the physical table of a sharded one, and has lost its entry in table %s; restore the entry", name, catalog.Table)
}

// cannotTell returns the error of a request on a table that the door could not look up.
func cannotTell(name string, err error) error {
	if backend.Throttled(err) || exception.Of(err).Kind == exception.ServiceUnavailable {
		return err
	}
	return exception.New(exception.InternalServerError,
		"evenkeel cannot tell whether table %s is write-sharded, and does not pass on what it cannot tell: its own credentials may not describe it (dynamodb:DescribeTable): %v", name, err)
}

// DoorError converts the error of a request that the door sent for itself into one for the client.
// A right that the door lacks says nothing about the client's rights.
func DoorError(err error) error {
	var e *exception.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == exception.ServiceUnavailable, backend.Throttled(err), errors.Is(err, catalog.ErrForeign):
		return err
	}
	return exception.New(exception.InternalServerError, "what evenkeel itself asks of the endpoint fails: %v; it needs dynamodb:DescribeTable on all tables, and "+
		"CreateTable, Scan, GetItem, PutItem and DeleteItem on table %s, for tables with buckets of time also CreateTable, DescribeTable, Query and PutItem on table %s", err, catalog.Table, catalog.BucketsTable)
}
