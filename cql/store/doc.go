// SPDX-License-Identifier: Apache-2.0

// Package store is the seam between the CQL door and what it fronts: request
// body in, response body out. A real cluster (cqldoor/cluster) and the engine in
// this process (engine) implement it, and neither needs to know the door.
//
// It is types only; it imports cql/wire.
package store
