// SPDX-License-Identifier: Apache-2.0

// Package principal carries through a context who has made a request of the
// DynamoDB API: whose rights decide what the request may see.
//
// The door sets it (With); what remembers answers keeps those of one principal
// apart from those of another (Of), and what sends requests on signs them as the
// principal's.
//
// It promises:
//
//  1. A Principal is comparable, and two requests have equal ones only if they have
//     the same rights at the store.
//  2. It carries no secret.
//
// It imports nothing of this module.
package principal
