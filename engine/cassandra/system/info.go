// SPDX-License-Identifier: Apache-2.0

package system

import "net/netip"

// Release is the version of Cassandra that the engine behaves like.
const Release = "5.0.9"

// CQLVersion is the version of CQL.
const CQLVersion = "3.4.7"

// Partitioner is the class of the partitioner.
const Partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"

// Info describes the node as system.local shows it.
type Info struct {
	ClusterName   string
	DataCenter    string
	Rack          string
	HostID        [16]byte
	SchemaVersion [16]byte
	Address       netip.AddrPort // of the native protocol
	Generation    int32          // the time when the node started, in seconds since 1970
}

// Token is the only token of the node, which owns all tokens.
const Token = "-9223372036854775808"
