// SPDX-License-Identifier: Apache-2.0

// Package principal carries the principal of a DynamoDB API request through a context: its rights
// decide what the request may see.
//
// The door sets the principal (With). A cache keeps the answers of different principals apart (Of),
// and a store that forwards requests signs them as the principal's.
//
// It promises:
//
//  1. A Principal is comparable, and two requests have equal ones only if they have
//     the same rights at the store.
//  2. It carries no secret.
//
// It imports nothing of this module.
package principal
