// SPDX-License-Identifier: Apache-2.0

//go:build !race

package cassandra

// allocationBudget leaves room for the storage's background work.
const allocationBudget = 1
