// SPDX-License-Identifier: Apache-2.0

// Package backend is the store below a door with sharded tables, as the parts of the door
// ask it. Store is its interface. Observed counts the requests, Door asks with the door's
// own rights, and Retried repeats a request while the store throttles it.
//
// It imports dynamo/api, dynamo/exception, dynamodoor/principal, dynamodoor/requestid and
// observe.
package backend
