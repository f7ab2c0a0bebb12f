package reshard

import (
	"strings"
	"testing"
)

var w, d = value, deletion

// TestRulesHold explores scenes with all rules in force.
func TestRulesHold(t *testing.T) {
	for _, sc := range []scene{
		{ops: []cell{w(6), d(7)}, first: w(4), late: true},
		{ops: []cell{w(6), d(7)}, first: w(4), reads: 1},
		{ops: []cell{w(3), d(7)}, first: w(4), late: true},
		{ops: []cell{w(3)}, first: d(4), reads: 2},
		{ops: []cell{d(5)}, first: w(4), one: 1, late: true},
		{ops: []cell{w(6)}, first: w(4), reads: 2, back: true},
	} {
		n, trace, err := explore(sc, 4_000_000)
		if err != nil || trace != nil {
			t.Errorf("%v: %v\n%s", sc, err, strings.Join(trace, "\n"))
		}
		t.Logf("%8d states: %v", n, sc)
	}
}
