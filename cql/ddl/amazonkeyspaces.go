// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// CustomProperties is the option that holds the properties of a table that Amazon Keyspaces has and
// Cassandra does not. Its value is a map[string]map[string]string of the declared properties, by
// their names in Keyspaces. Tags is a map[string]string. Env.Keyspaces allows both options.
const (
	CustomProperties = "custom_properties"
	Tags             = "tags"

	autoscaling = "autoscaling_settings"
)

// Custom is the type of the values of CustomProperties.
type Custom = map[string]map[string]string

// The names and values of custom properties.
const (
	CapacityMode   = "capacity_mode"
	ThroughputMode = "throughput_mode"
	ReadCapacity   = "read_capacity_units"
	WriteCapacity  = "write_capacity_units"
	Provisioned    = "PROVISIONED"
	PayPerRequest  = "PAY_PER_REQUEST"

	WarmThroughput = "warm_throughput"
	WarmRead       = "read_units_per_second"
	WarmWrite      = "write_units_per_second"

	// OnDemandSince is kept with CapacityMode and cannot be declared. It is the time at which the
	// table last became an on-demand table, in milliseconds since 1970.
	OnDemandSince = "last_update_to_pay_per_request_timestamp"

	encryption = "encryption_specification"
	recovery   = "point_in_time_recovery"
	clientTime = "client_side_timestamps"
	expiry     = "ttl"
	streams    = "cdc_specification"
	status     = "status"
	enabled    = "enabled"
	disabled   = "disabled"
)

// tableProperties reads the options of a table, including those of Amazon Keyspaces.
func (c *change) tableProperties(with syntax.Properties) (*properties, error) {
	var rest syntax.Properties
	var custom Custom
	for _, w := range with {
		switch {
		case w.Name != CustomProperties && w.Name != autoscaling:
			rest = append(rest, w)
		case !c.env.Keyspaces:
			return nil, syntaxError("Unknown property '%s': it is of Amazon Keyspaces, not of Cassandra. "+
				"The embedded engine has it when evenkeel is started with --capacity keyspaces", w.Name)
		case w.Name == autoscaling:
			return nil, invalid("AUTOSCALING_SETTINGS is not supported by the embedded engine: the units of a table do not change by themselves; " +
				"leave it out, and set them with CUSTOM_PROPERTIES = {'capacity_mode': …}")
		default:
			var err error
			if custom, err = readCustom(w.Value); err != nil {
				return nil, err
			}
		}
	}
	p, err := readProperties(rest)
	if err != nil {
		return nil, err
	}
	p.custom = custom
	return p, nil
}

// readCustom reads a map of maps.
func readCustom(v syntax.Expr) (Custom, error) {
	all := Custom{}
	m, ok := v.(*syntax.Map)
	if !ok {
		return nil, syntaxError("Invalid value for property '%s'. It should be a map.", CustomProperties)
	}
	for _, e := range m.Entries {
		key, ok := e.Key.(*syntax.Constant)
		if !ok {
			return nil, syntaxError("Invalid property name in '%s': it must be a constant", CustomProperties)
		}
		name := key.Text
		if name == "TTL" { // the documentation of Keyspaces has both
			name = expiry
		}
		inner := map[string]string{}
		switch value := e.Value.(type) {
		case *syntax.Map:
			for _, o := range value.Entries {
				option, isConstant := o.Key.(*syntax.Constant)
				v, isValue := o.Value.(*syntax.Constant)
				if !isConstant || !isValue {
					return nil, invalid("A map within '%s' of CUSTOM_PROPERTIES is not supported by the embedded engine; leave it out", name)
				}
				inner[option.Text] = constantText(v)
			}
		case *syntax.Constant:
			return nil, syntaxError("Invalid value for '%s' of CUSTOM_PROPERTIES. It should be a map.", name)
		}
		all[name] = inner
	}
	return all, nil
}

// tableProperty reports whether a new table can have an option.
func (c *change) tableProperty(name string) bool {
	return tableProperty(name) || name == Tags && c.env.Keyspaces
}

// customOptions sets in o the options that were declared with Amazon Keyspaces' properties. o holds
// the earlier options of the table, or the defaults.
func (c *change) customOptions(p *properties, t *schema.Table, o map[string]any) error {
	if c.env.Keyspaces && p.has(Tags) {
		tags, _, err := p.pairs(Tags)
		if err != nil {
			return err
		}
		o[Tags] = maps.Clone(tags)
	}
	if len(p.custom) == 0 {
		return nil
	}
	if t != nil && len(p.custom) > 1 {
		return invalid("ALTER TABLE can change one of the CUSTOM_PROPERTIES at a time, not %s; use a statement for each",
			strings.Join(slices.Sorted(maps.Keys(p.custom)), ", "))
	}
	var before Custom
	if t != nil {
		before, _ = t.Options[CustomProperties].(Custom)
	}
	after := Custom{}
	maps.Copy(after, before)
	for _, name := range slices.Sorted(maps.Keys(p.custom)) {
		given := p.custom[name]
		if err := checkCustom(name, given, before[name]); err != nil {
			return err
		}
		switch name {
		case CapacityMode:
			given = c.sinceOnDemand(given, before[name], t)
		case WarmThroughput: // of reads, of writes, or of both
			warm := map[string]string{}
			maps.Copy(warm, before[name])
			maps.Copy(warm, given)
			given = warm
		}
		after[name] = given
	}
	o[CustomProperties] = after
	return nil
}

// sinceOnDemand returns a capacity mode with OnDemandSince.
func (c *change) sinceOnDemand(mode, before map[string]string, t *schema.Table) map[string]string {
	mode = maps.Clone(mode)
	since, known := before[OnDemandSince]
	switch was := before[ThroughputMode]; {
	case mode[ThroughputMode] == PayPerRequest && was == Provisioned:
		since, known = strconv.FormatInt(c.env.Now/1000, 10), true
	case t != nil && was != Provisioned && !known: // on demand since it was created
		since, known = created(t)
	}
	if known {
		mode[OnDemandSince] = since
	}
	return mode
}

// created returns the time at which a table was created, from its id, a version 1 UUID.
func created(t *schema.Table) (milliseconds string, known bool) {
	if t.ID[6]>>4 != 1 {
		return "", false
	}
	const before1970 = 0x01b21dd213814000 // 100 ns units from 1582 to 1970
	ticks := int64(binary.BigEndian.Uint16(t.ID[6:])&0x0fff)<<48 | int64(binary.BigEndian.Uint16(t.ID[4:]))<<32 | int64(binary.BigEndian.Uint32(t.ID[:]))
	return strconv.FormatInt((ticks-before1970)/10_000, 10), true
}

// checkCustom checks one custom property. before holds the table's earlier value, if it has one.
func checkCustom(name string, given, before map[string]string) error {
	switch name {
	case CapacityMode:
		return checkCapacity(given)
	case WarmThroughput:
		return checkWarm(given, before)
	case encryption:
		return checkEncryption(given)
	case recovery:
		return checkStatus(name, given)
	case clientTime, expiry:
		if err := checkStatus(name, given); err != nil {
			return err
		}
		if before[status] == enabled && given[status] == disabled {
			return invalid("'%s' of CUSTOM_PROPERTIES cannot be disabled once it is enabled", name)
		}
		return nil
	case streams:
		return checkStreams(given)
	case "replica_updates":
		return invalid("'replica_updates' of CUSTOM_PROPERTIES is for tables in several Regions, and this one is in one; leave it out")
	}
	return invalid("Unknown property '%s' in CUSTOM_PROPERTIES; Amazon Keyspaces has %s, %s, %s, %s, %s, %s and %s",
		name, CapacityMode, streams, clientTime, encryption, recovery, expiry, WarmThroughput)
}

func checkCapacity(given map[string]string) error {
	if err := onlyOptions(CapacityMode, given, ThroughputMode, ReadCapacity, WriteCapacity); err != nil {
		return err
	}
	_, read := given[ReadCapacity]
	_, write := given[WriteCapacity]
	switch mode, ok := given[ThroughputMode]; {
	case !ok:
		return invalid("'%s' of CUSTOM_PROPERTIES needs '%s': '%s' or '%s'", CapacityMode, ThroughputMode, PayPerRequest, Provisioned)
	case mode == Provisioned && !(read && write):
		return invalid("'%s' throughput mode requires '%s' and '%s' to be set using '%s' option", Provisioned, ReadCapacity, WriteCapacity, CapacityMode)
	case mode == Provisioned:
		return units(CapacityMode, given)
	case mode != PayPerRequest:
		return invalid("Invalid value '%s' for '%s' of '%s': it is '%s' or '%s'", mode, ThroughputMode, CapacityMode, PayPerRequest, Provisioned)
	case read || write:
		return invalid("'%s' and '%s' of '%s' are for '%s': '%s' only", ReadCapacity, WriteCapacity, CapacityMode, ThroughputMode, Provisioned)
	}
	return nil
}

func checkWarm(given, before map[string]string) error {
	if err := onlyOptions(WarmThroughput, given, WarmRead, WarmWrite); err != nil {
		return err
	}
	if len(given) == 0 {
		return invalid("'%s' of CUSTOM_PROPERTIES needs '%s', '%s' or both", WarmThroughput, WarmRead, WarmWrite)
	}
	if err := units(WarmThroughput, given); err != nil {
		return err
	}
	for _, option := range slices.Sorted(maps.Keys(given)) {
		asked, _ := strconv.ParseInt(given[option], 10, 64) // both have already been checked
		if has, _ := strconv.ParseInt(before[option], 10, 64); asked < has {
			return invalid("'%s' of '%s' can only be increased: it is %d, and %d is less", option, WarmThroughput, has, asked)
		}
	}
	return nil
}

func checkEncryption(given map[string]string) error {
	const kind, key, own, customer = "encryption_type", "kms_key_identifier", "AWS_OWNED_KMS_KEY", "CUSTOMER_MANAGED_KMS_KEY"
	if err := onlyOptions(encryption, given, kind, key); err != nil {
		return err
	}
	switch arn, has := given[key]; {
	case given[kind] != own && given[kind] != customer:
		return invalid("'%s' of CUSTOM_PROPERTIES needs '%s': '%s' or '%s'", encryption, kind, own, customer)
	case given[kind] == customer && !strings.HasPrefix(arn, "arn:"):
		return invalid("'%s' of '%s' requires '%s', the ARN of a KMS key", customer, encryption, key)
	case given[kind] == own && has:
		return invalid("'%s' of '%s' is for '%s' only", key, encryption, customer)
	}
	return nil
}

func checkStreams(given map[string]string) error {
	const view, propagate = "view_type", "propagate_tags"
	if err := onlyOptions(streams, given, view, propagate); err != nil {
		return err
	}
	for option, allowed := range map[string][]string{
		view:      {"NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"},
		propagate: {"TABLE", "NONE"},
	} {
		if v, ok := given[option]; ok && !slices.Contains(allowed, v) {
			return invalid("Invalid value '%s' for '%s' of '%s': it is one of %s", v, option, streams, strings.Join(allowed, ", "))
		}
	}
	return nil
}

func checkStatus(name string, given map[string]string) error {
	if err := onlyOptions(name, given, status); err != nil {
		return err
	}
	if v := given[status]; v != enabled && v != disabled {
		return invalid("'%s' of CUSTOM_PROPERTIES needs '%s': '%s' or '%s'", name, status, enabled, disabled)
	}
	return nil
}

// onlyOptions refuses options that a custom property does not have.
func onlyOptions(name string, given map[string]string, allowed ...string) error {
	for _, option := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(allowed, option) {
			return invalid("Unknown option '%s' in '%s' of CUSTOM_PROPERTIES; it has %s", option, name, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// units checks and normalizes the options of a property that are units per second.
func units(name string, given map[string]string) error {
	for _, option := range slices.Sorted(maps.Keys(given)) {
		if option == ThroughputMode {
			continue
		}
		n, err := strconv.ParseInt(given[option], 10, 64)
		if err != nil || n < 1 {
			return invalid("Invalid value '%s' for '%s' of '%s': it is a whole number of units a second, 1 or more", given[option], option, name)
		}
		given[option] = strconv.FormatInt(n, 10)
	}
	return nil
}

// ShownProperties returns the custom properties of a table as Amazon Keyspaces shows them: the
// declared ones, and the defaults.
func ShownProperties(t *schema.Table) Custom {
	all := Custom{
		CapacityMode: {ThroughputMode: PayPerRequest},
		encryption:   {"encryption_type": "AWS_OWNED_KMS_KEY"},
		recovery:     {status: disabled},
	}
	declared, _ := t.Options[CustomProperties].(Custom)
	maps.Copy(all, declared)
	mode := maps.Clone(all[CapacityMode])
	if mode[ThroughputMode] == PayPerRequest && mode[OnDemandSince] == "" {
		if since, known := created(t); known {
			mode[OnDemandSince] = since
		}
	}
	all[CapacityMode] = mode

	// A provisioned table is warm for its own units, an on-demand table for those of a new one.
	warm := map[string]string{status: "AVAILABLE", WarmRead: "12000", WarmWrite: "4000"}
	if mode[ThroughputMode] == Provisioned {
		warm[WarmRead], warm[WarmWrite] = mode[ReadCapacity], mode[WriteCapacity]
	}
	for _, option := range []string{WarmRead, WarmWrite} {
		asked, _ := strconv.ParseInt(declared[WarmThroughput][option], 10, 64)
		if has, _ := strconv.ParseInt(warm[option], 10, 64); asked > has {
			warm[option] = strconv.FormatInt(asked, 10)
		}
	}
	all[WarmThroughput] = warm
	return all
}
