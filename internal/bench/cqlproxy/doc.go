// SPDX-License-Identifier: Apache-2.0

// Package cqlproxy pins the peer that forwarding is measured against, in a module
// of its own, so that the project does not depend on it.
package cqlproxy
