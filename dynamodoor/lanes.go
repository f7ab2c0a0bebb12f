// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/lane"
)

// Requests that may take long have their own lane, so that short requests never wait for them.
// Within a lane, the connections take turns: see package lane.

// answerWithin is the time after the beginning of a request in which its answer can be sent.
const answerWithin = 2 * time.Minute

// lanes holds the lanes of a door.
type lanes struct {
	short *lane.Lane // requests on one item or table
	long  *lane.Lane
}

func newLanes(places int) lanes {
	each := max(1, places/2)
	return lanes{short: lane.New(each, max(1, each/2)), long: lane.New(each, max(1, each/2))}
}

// of returns the lane of an operation.
func (l *lanes) of(o *api.Operation) *lane.Lane {
	if o.Long {
		return l.long
	}
	return l.short
}
