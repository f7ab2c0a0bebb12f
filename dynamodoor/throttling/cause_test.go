// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// TestReasons checks that each of DynamoDB's 16 reasons has one of the three causes.
func TestReasons(t *testing.T) {
	causes := map[string]Cause{
		"KeyRangeThroughputExceeded": Partition, "ProvisionedThroughputExceeded": Table,
		"AccountLimitExceeded": Account, "MaxOnDemandThroughputExceeded": Account,
	}
	const arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Tab"
	for limit, cause := range causes {
		for _, write := range []bool{false, true} {
			operation := map[bool]string{false: "Read", true: "Write"}[write]
			for resource, index := range map[string]string{"Table": "", "Index": "by_country"} {
				at := arn
				if index != "" {
					at += "/index/" + index
				}
				got := ofReason(exception.ThrottlingReason{Reason: resource + operation + limit, Resource: at}, !write)
				if want := (What{cause, index, write}); got != want {
					t.Errorf("%s%s%s is %+v, not %+v", resource, operation, limit, got, want)
				}
			}
		}
	}
	if got := ofReason(exception.ThrottlingReason{Reason: "TableWriteSomethingNewExceeded", Resource: arn}, true); got != (What{Untold, "", true}) {
		t.Errorf("a reason that is not known is %+v", got)
	}
}

// TestErrorsWithoutReasons checks that, without reasons, only what the texts say is taken from
// them.
func TestErrorsWithoutReasons(t *testing.T) {
	for _, c := range []struct {
		err  exception.Error
		want []What
	}{
		{exception.Error{Kind: exception.ProvisionedThroughputExceeded, Message: "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."}, []What{{Untold, "", true}}},
		{exception.Error{Kind: exception.Throttling, Message: "Throughput exceeds the current capacity of your table or index."}, []What{{Untold, "", true}}},
		{exception.Error{Kind: exception.Throttling, Message: "Throughput exceeds the maximum OnDemandThroughput configured on table or index"}, []What{{Account, "", true}}},
		{exception.Error{Kind: exception.Throttling, Message: "Throughput exceeds the current throughput limit for your account."}, []What{{Account, "", true}}},
		{exception.Error{Kind: exception.RequestLimitExceeded}, []What{{Account, "", true}}},
		{exception.Error{Kind: exception.Validation, Message: "Throughput exceeds the current throughput limit for your account."}, nil},
		{exception.Error{Kind: exception.Throttling, Throttling: []exception.ThrottlingReason{
			{Reason: "TableWriteKeyRangeThroughputExceeded", Resource: "arn:table/T"}, {Reason: "TableWriteAccountLimitExceeded", Resource: "arn:table/T"},
		}}, []What{{Partition, "", true}, {Account, "", true}}},
	} {
		if got := whats(&c.err, true); !slices.Equal(got, c.want) {
			t.Errorf("%v: %+v, not %+v", &c.err, got, c.want)
		}
	}
}
