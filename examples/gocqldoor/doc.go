// SPDX-License-Identifier: Apache-2.0

// Package gocqldoor shows a Go program with write-sharded Cassandra tables and no server: the
// door is a HostDialer of the driver gocql.
package gocqldoor
