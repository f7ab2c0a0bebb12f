// SPDX-License-Identifier: Apache-2.0

// Package cqlproxy pins the peer with which forwarding is compared, in its own module, so that the
// project does not depend on it.
package cqlproxy
