// SPDX-License-Identifier: Apache-2.0

// Package exposition shows what package observe measures to Prometheus. It imports
// observe.
package exposition
