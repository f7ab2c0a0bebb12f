// SPDX-License-Identifier: Apache-2.0

package ddl

// KeyspacesSystem is the keyspace in which Amazon Keyspaces shows its own properties of tables. The
// name is reserved even without those properties.
const KeyspacesSystem = "system_schema_mcs"

// LocalSystem reports whether a keyspace is one of those that each node keeps for itself, stored or
// virtual. Nobody may change their schema.
func LocalSystem(keyspace string) bool {
	switch keyspace {
	case "system", "system_schema", "system_views", "system_virtual_schema", KeyspacesSystem:
		return true
	}
	return false
}

// ReplicatedSystem reports whether a keyspace is one of those that Cassandra keeps on several
// nodes.
func ReplicatedSystem(keyspace string) bool {
	switch keyspace {
	case "system_auth", "system_distributed", "system_traces":
		return true
	}
	return false
}

// permit refuses changes to the system keyspaces. verb and resource are part of Cassandra's message
// for the replicated ones: "CREATE", "<all tables in ks>".
func permit(keyspace, verb, resource string) error {
	switch {
	case LocalSystem(keyspace):
		return unauthorized("%s keyspace is not user-modifiable.", keyspace)
	case ReplicatedSystem(keyspace):
		return unauthorized("Cannot %s %s", verb, resource)
	}
	return nil
}
