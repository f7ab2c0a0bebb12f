// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Cause is the reason why a request was throttled.
type Cause uint8

// These are the causes.
const (
	Untold    Cause = iota // the store does not tell
	Partition              // one partition's limit: a hot key
	Table                  // the provisioned throughput of the table or index
	Account                // the account's quota, or the maximum of an on-demand table
)

// Causes lists all causes.
var Causes = []Cause{Untold, Partition, Table, Account}

// String returns the name of the cause.
func (c Cause) String() string { return [...]string{"untold", "partition", "table", "account"}[c] }

// What is one limit that a request met.
type What struct {
	Cause Cause
	Index string // the index with the limit; "": the table itself
	Write bool
}

// whats returns the limits in a store's error that a request exceeded. It returns none if the error
// is not about limits. write says whether the request writes, because not every error says so.
func whats(e *exception.Error, write bool) (all []What) {
	switch e.Kind {
	case exception.ProvisionedThroughputExceeded, exception.Throttling, exception.RequestLimitExceeded:
	default:
		return nil
	}
	for _, r := range e.Throttling {
		if w := ofReason(r, write); len(all) == 0 || all[len(all)-1] != w {
			all = append(all, w)
		}
	}
	if all == nil {
		all = []What{{Cause: ofText(e.Kind, e.Message), Write: write}}
	}
	return all
}

// ofReason reads one of ThrottlingReasons, such as TableWriteKeyRangeThroughputExceeded.
func ofReason(r exception.ThrottlingReason, write bool) What {
	w := What{Write: write}
	limit, ofIndex := strings.CutPrefix(r.Reason, "Index")
	if !ofIndex {
		limit = strings.TrimPrefix(limit, "Table")
	}
	if rest, ok := strings.CutPrefix(limit, "Read"); ok {
		limit, w.Write = rest, false
	} else if rest, ok := strings.CutPrefix(limit, "Write"); ok {
		limit, w.Write = rest, true
	}
	switch limit {
	case "KeyRangeThroughputExceeded":
		w.Cause = Partition
	case "ProvisionedThroughputExceeded":
		w.Cause = Table
	case "AccountLimitExceeded", "MaxOnDemandThroughputExceeded":
		w.Cause = Account
	}
	if _, index, ok := strings.Cut(r.Resource, "/index/"); ok && ofIndex {
		w.Index = index
	}
	return w
}

// ofText reads an error without ThrottlingReasons. It does not trust two messages: DynamoDB has
// reported a table's provisioned throughput as exceeded for hot partitions, too, and has reported
// in both cases that a table is being scaled.
func ofText(k exception.Kind, text string) Cause {
	switch {
	case k == exception.RequestLimitExceeded,
		strings.Contains(text, "throughput limit for your account"),
		strings.Contains(text, "maximum OnDemandThroughput"):
		return Account
	}
	return Untold
}

// ofReasonCode reads the reason with which one action cancelled a transaction. It returns false if
// that was not a limit.
func ofReasonCode(r exception.CancellationReason) (Cause, bool) {
	switch r.Code {
	case "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return ofText(exception.Throttling, r.Message), true
	}
	return Untold, false
}
