// SPDX-License-Identifier: Apache-2.0

// Package backend is the interface between the parts of a door and the store of plain tables below
// it. Store is the interface. A Store in the door's process may also be a Gatherer, which reads several
// partitions in one request. Observed counts the requests, Door sends them with the door's own
// rights, and Retried repeats a request while the store throttles it.
//
// It imports deadline, dynamo/api, dynamo/exception, dynamodoor/principal, dynamodoor/requestid
// and observe.
package backend
