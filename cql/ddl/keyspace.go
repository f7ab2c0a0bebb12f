// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// maxName is the length of the longest keyspace name that Cassandra creates.
const maxName = 48

func validName(name string) bool {
	for i := range len(name) {
		b := name[i]
		if b != '_' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return name != ""
}

func keyspaceProperty(name string) bool { return name == "replication" || name == "durable_writes" }

func (c *change) createKeyspace(stmt *syntax.CreateKeyspace) error {
	p, err := readProperties(stmt.With)
	if err != nil {
		return err
	}
	if LocalSystem(stmt.Name) {
		return invalid("System keyspace '%s' is not user-modifiable", stmt.Name)
	}
	if !validName(stmt.Name) {
		return invalid("Keyspace name must not be empty and must contain alphanumeric or underscore characters only (got \"%s\")", stmt.Name)
	}
	if len(stmt.Name) > maxName {
		return invalid("Keyspace name must not be more than %d characters long (got %d characters for \"%s\")", maxName, len(stmt.Name), stmt.Name)
	}
	if err := checkKeyspaceProperties(p); err != nil {
		return err
	}
	if !p.has("replication") {
		return invalid("Missing mandatory option 'replication'")
	}
	written, _, _ := p.pairs("replication")
	if strategyName(written["class"]) == "LocalStrategy" {
		return errLocalStrategy
	}
	if c.old.Keyspaces[stmt.Name] != nil {
		if stmt.IfNotExists {
			return nil
		}
		return keyspaceExists(stmt.Name)
	}
	ks := &schema.Keyspace{Name: stmt.Name, DurableWrites: true}
	if err := c.setKeyspace(ks, p, nil); err != nil {
		return err
	}
	c.put(ks.Name, ks, wire.SchemaChange{Change: wire.ChangeCreated, Target: wire.TargetKeyspace})
	return nil
}

func (c *change) alterKeyspace(stmt *syntax.AlterKeyspace) error {
	p, err := readProperties(stmt.With)
	if err != nil {
		return err
	}
	if err := permit(stmt.Name, "ALTER", "<keyspace "+stmt.Name+">"); err != nil {
		return err
	}
	if err := checkKeyspaceProperties(p); err != nil {
		return err
	}
	old := c.old.Keyspaces[stmt.Name]
	if old == nil {
		if stmt.IfExists {
			return nil
		}
		return noKeyspace(stmt.Name)
	}
	written, _, _ := p.pairs("replication")
	if strategyName(written["class"]) == "LocalStrategy" {
		return errLocalStrategy
	}
	ks := *old
	if err := c.setKeyspace(&ks, p, old); err != nil {
		return err
	}
	if ks.DurableWrites == old.DurableWrites && maps.Equal(ks.Replication, old.Replication) {
		return nil
	}
	c.put(ks.Name, &ks, wire.SchemaChange{Change: wire.ChangeUpdated, Target: wire.TargetKeyspace})
	return nil
}

var errLocalStrategy = invalid("Unable to use given strategy class: LocalStrategy is reserved for internal use.")

func checkKeyspaceProperties(p *properties) error {
	if err := p.known(keyspaceProperty); err != nil {
		return err
	}
	r, ok, err := p.pairs("replication")
	if err != nil {
		return err
	}
	if ok && len(r) > 0 && r["class"] == "" {
		return configError("Missing replication strategy class")
	}
	return nil
}

// setKeyspace sets the options of a keyspace that the statement gives.
func (c *change) setKeyspace(ks *schema.Keyspace, p *properties, old *schema.Keyspace) error {
	if d, ok, err := p.bool("durable_writes"); err != nil {
		return err
	} else if ok {
		ks.DurableWrites = d
	}
	written, ok, err := p.pairs("replication")
	if err != nil || !ok {
		return err
	}
	var before map[string]string
	if old != nil {
		before = old.Replication
	}
	ks.Replication, err = c.replication(ks.Name, written, before)
	return err
}

const locator = "org.apache.cassandra.locator."

// strategyName returns a strategy's class without its package.
func strategyName(class string) string { return strings.TrimPrefix(class, locator) }

// replication validates a replication map and completes it as Cassandra does.
func (c *change) replication(keyspace string, written, before map[string]string) (map[string]string, error) {
	options := maps.Clone(written)
	class := strategyName(written["class"])
	delete(options, "class")
	if class == "SingleRegionStrategy" && c.env.Keyspaces && len(options) == 0 {
		// This is how Amazon Keyspaces shows it.
		return map[string]string{"class": locator + "SimpleStrategy", "replication_factor": "3"}, nil
	}
	switch class {
	case "SimpleStrategy":
		if _, ok := options["replication_factor"]; !ok {
			options["replication_factor"] = "1"
			if before != nil && strategyName(before["class"]) == class {
				options["replication_factor"] = before["replication_factor"]
			}
		}
	case "NetworkTopologyStrategy":
		c.networkTopology(options, before)
	default:
		full := written["class"]
		if !strings.Contains(full, ".") {
			full = locator + full
		}
		hint := ""
		if class == "SingleRegionStrategy" && len(options) == 0 {
			hint = ": it is of Amazon Keyspaces, not of Cassandra. The embedded engine has it when evenkeel is started with --capacity keyspaces"
		}
		return nil, configError("Unable to find replication strategy class '%s'%s", full, hint)
	}
	if err := c.checkReplication(keyspace, class, options); err != nil {
		return nil, err
	}
	options["class"] = locator + class
	return options, nil
}

// networkTopology replaces replication_factor by one factor for each data centre.
func (c *change) networkTopology(options, before map[string]string) {
	rf, ok := options["replication_factor"]
	if ok || len(options) == 0 {
		if !ok {
			rf = "1"
		}
		delete(options, "replication_factor")
		for dc := range c.env.DataCenters {
			if _, ok := options[dc]; !ok {
				options[dc] = rf
			}
		}
	}
	if strategyName(before["class"]) == "NetworkTopologyStrategy" && ok {
		for dc, n := range before {
			if _, given := options[dc]; !given && dc != "class" {
				options[dc] = n
			}
		}
	}
	for dc, n := range options {
		if n == "0" {
			delete(options, dc)
		}
	}
}

func (c *change) checkReplication(keyspace, class string, options map[string]string) error {
	names := slices.Sorted(maps.Keys(options))
	if class == "NetworkTopologyStrategy" && len(names) == 0 {
		return configError("Configuration for at least one datacenter must be present")
	}
	for _, name := range names {
		nodes, dc := c.env.DataCenters[name]
		if class == "NetworkTopologyStrategy" && !dc || class == "SimpleStrategy" && name != "replication_factor" {
			return configError("Unrecognized strategy option {%s} passed to %s for keyspace %s", name, class, keyspace)
		}
		rf, err := strconv.ParseInt(options[name], 10, 32)
		if err != nil {
			return configError("For input string: \"%s\"", options[name])
		}
		if rf < 0 {
			return configError("Replication factor must be non-negative, found %d", rf)
		}
		switch {
		case !dc && int(rf) > c.env.nodes():
			c.warn("Your replication factor %d for keyspace %s is higher than the number of nodes %d", rf, keyspace, c.env.nodes())
		case dc && int(rf) > nodes:
			c.warn("Your replication factor %d for keyspace %s is higher than the number of nodes %d for datacenter %s", rf, keyspace, nodes, name)
		}
	}
	return nil
}
