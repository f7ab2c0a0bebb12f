// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/describe"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// TestCustomProperties checks the properties of Amazon Keyspaces against its developer guide. The
// error for a mode without units is also from there.
func TestCustomProperties(t *testing.T) {
	w := newWorld()
	w.keyspaces = true
	runScript(t, "testdata/keyspaces", w)
}

// shown formats a table's custom properties as they are read and as they are described.
func shown(t *schema.Table) string {
	var b strings.Builder
	all := ShownProperties(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s: %v\n", name, all[name])
	}
	for line := range strings.Lines(describe.Table(t, false)) {
		if strings.Contains(line, " AND custom_properties") || strings.Contains(line, " AND tags") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// declared returns the options without those that cannot be declared.
func declared(options map[string]any) map[string]any {
	all := maps.Clone(options)
	if custom, ok := all[CustomProperties].(Custom); ok {
		custom = maps.Clone(custom)
		if mode := maps.Clone(custom[CapacityMode]); mode != nil {
			delete(mode, OnDemandSince)
			custom[CapacityMode] = mode
		}
		all[CustomProperties] = custom
	}
	return all
}

// TestCreated checks that created reads the time from a table's id.
func TestCreated(t *testing.T) {
	id := [16]byte{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4}
	if at, ok := created(&schema.Table{ID: id}); !ok || at != "886630433151" { // 1998-02-04T22:13:53.151Z
		t.Error(at, ok)
	}
	id[6] = 0x41
	if at, ok := created(&schema.Table{ID: id}); ok {
		t.Errorf("a random id was made at %s", at)
	}
}
