// SPDX-License-Identifier: Apache-2.0

//go:build race

package cassandra

// allocationBudget: under the race detector sync.Pool drops things at random.
const allocationBudget = 20
