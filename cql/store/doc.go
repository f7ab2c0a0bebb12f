// SPDX-License-Identifier: Apache-2.0

// Package store defines what is behind the CQL door: a store gets request bodies and returns
// response bodies. A real cluster (cqldoor/cluster) and the engine in this process (engine)
// implement it. Neither knows the door.
//
// It imports cql/wire.
package store
