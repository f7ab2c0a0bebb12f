// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"runtime"
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestLongListsStayShort binds lists of many short values. What is allocated is bounded by their
// bytes; a Go slice for each value would take several times as much.
func TestLongListsStayShort(t *testing.T) {
	const many = 100_000
	list := wire.AppendInt(nil, many)
	for i := range many {
		list = wire.AppendBytes(list, wire.AppendInt(nil, int32(i)))
	}
	for text, times := range map[string]float64{
		"SELECT v FROM t WHERE k IN ?":                                       1,
		"SELECT v FROM t WHERE k = 1 AND c1 IN ?":                            1,
		"DELETE FROM t WHERE k IN ?":                                         1,
		"UPDATE t SET v = 1 WHERE k = 1 AND c1 IN ? AND c2 = 'a' AND c3 = 1": 1,
		"SELECT v FROM t WHERE v IN ? ALLOW FILTERING":                       4, // a slice for each
		"UPDATE coll SET l = l + ? WHERE k = 1":                              3, // a path of 16 bytes for each
		"UPDATE coll SET l = ? + l WHERE k = 1":                              3,
		"UPDATE coll SET l = ? WHERE k = 1":                                  3,
		"UPDATE coll SET l = l - ? WHERE k = 1":                              1,
		"UPDATE coll SET fl = ? WHERE k = 1":                                 1,
	} {
		t.Run(text, func(t *testing.T) {
			a := analysed(t, text)
			env := &eval.Env{Values: []eval.Value{{Bytes: list}}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var err error
			switch a := a.(type) {
			case *Select:
				_, err = a.Bind(env)
			case *Write:
				_, err = a.Bind(env)
			}
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if took := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(list)); took > times {
				t.Errorf("%.1f times the list's bytes are allocated, more than %.0f times", took, times)
			}
		})
	}
}
