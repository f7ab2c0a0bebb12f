// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

func Exists(name string) error {
	return exception.New(exception.ResourceInUse, "Table already exists: %s", name)
}

func BeingChanged(name string) error {
	return exception.New(exception.ResourceInUse, "table %s is being changed by another request, or was deleted a moment ago; try again", name)
}

func NotThere(name string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
}

var ErrNoTable = exception.New(exception.ResourceNotFound, "Requested resource not found")

func Orphan(name string) error {
	return exception.Invalid("table %s is the physical table of a sharded one, and has lost its entry in table %s; restore the entry", name, catalog.Table)
}

func cannotTell(name string, err error) error {
	if backend.Throttled(err) || exception.Of(err).Kind == exception.ServiceUnavailable {
		return err
	}
	return exception.New(exception.InternalServerError,
		"evenkeel cannot tell whether table %s is write-sharded, and does not pass on what it cannot tell: its own credentials may not describe it (dynamodb:DescribeTable): %v", name, err)
}

// DoorError is an error of what the door itself has asked, as a client is told it:
// what the door may not do says nothing about the client's rights.
func DoorError(err error) error {
	var e *exception.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == exception.ServiceUnavailable, backend.Throttled(err):
		return err
	}
	return exception.New(exception.InternalServerError, "what evenkeel itself asks of the endpoint fails: %v; it needs dynamodb:DescribeTable on all tables, and "+
		"CreateTable, Scan, GetItem, PutItem and DeleteItem on table %s", err, catalog.Table)
}
