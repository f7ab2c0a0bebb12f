// SPDX-License-Identifier: Apache-2.0

package api

// Reads tells whether an operation changes nothing.
func Reads(operation string) bool {
	switch operation {
	case "GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "DescribeTable":
		return true
	}
	return false
}
