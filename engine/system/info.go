// SPDX-License-Identifier: Apache-2.0

package system

import "net/netip"

// Release is the version of Cassandra whose behaviour the engine has.
const Release = "5.0.9"

// CQLVersion is the version of CQL.
const CQLVersion = "3.4.7"

// Partitioner is the class of the partitioner.
const Partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"

// Info is what system.local tells of the node.
type Info struct {
	ClusterName   string
	DataCenter    string
	Rack          string
	HostID        [16]byte
	SchemaVersion [16]byte
	Address       netip.AddrPort // of the native protocol
	Generation    int32          // when the node started, seconds since 1970
}

// Token is the one token of the node, which owns them all.
const Token = "-9223372036854775808"
