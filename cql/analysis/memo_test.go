// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// TestManyExpressionsTakeLittle analyses statements of many expressions, and measures by how much the
// heap grows with a collector that runs often. What the analysis knows of one expression it does not
// keep until the end.
func TestManyExpressionsTakeLittle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	s := loadSchema(t, "testdata/schema.cql")
	for name, text := range map[string]string{
		"products": "SELECT " + strings.Repeat("v"+strings.Repeat(" * v", 100)+", ", 300) + "v FROM one",
		"casts":    "SELECT " + strings.Repeat("cast(v as text), ", 5000) + "v FROM one",
		"calls":    "SELECT " + strings.Repeat(strings.Repeat("abs(", 50)+"v"+strings.Repeat(")", 50)+", ", 300) + "v FROM one",
	} {
		stmt, err := syntax.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Analyze(stmt, s, keyspace); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		grown := int64(after.HeapSys-after.HeapReleased) - int64(before.HeapSys-before.HeapReleased)
		if grown > 100*int64(len(text)) {
			t.Errorf("%s: the heap grows by %d bytes for a text of %d", name, grown, len(text))
		}
	}
}
