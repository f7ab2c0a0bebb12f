// SPDX-License-Identifier: Apache-2.0

// Package exposition shows the measurements of package observe to Prometheus. It imports observe.
package exposition
