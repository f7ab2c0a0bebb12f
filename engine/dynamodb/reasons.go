// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

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
