//go:build !race

package engine

// allocationBudget leaves room for the storage's background work.
const allocationBudget = 1
