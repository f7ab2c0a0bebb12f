// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"pgregory.net/rapid"
)

// TestShardingLaw checks that one random history gives the same answers on every target. It shrinks
// a failure and prints it as a script; put that into testdata/ to keep it.
func TestShardingLaw(t *testing.T) { law(t, targets(t), calculated) }

// TestShardingLawRandom checks the law under strategies random and rollover, which have no conditions.
func TestShardingLawRandom(t *testing.T) { law(t, randomTargets(t), random) }

// TestShardingLawTime checks the law under strategy time, whose tables have a time as first
// clustering column and no static columns.
func TestShardingLawTime(t *testing.T) {
	// Use fewer histories than rapid's default, because everything else is as under calculated.
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue {
		if err := checks.Value.Set("32"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(before) }()
	}
	law(t, timeTargets(t), timed)
}

// judgeFailed reports whether a fault is Cassandra's own failure of a read, from which nothing
// follows: 5.0.9 throws IllegalStateException ("PROCESSED UnfilteredRowIterator") for some
// partitions with deletions.
func judgeFailed(fault string) bool {
	return strings.Contains(fault, "the judge says error 0x1300 Operation failed - received 0 responses and 1 failures")
}

func law(t *testing.T, all []Target, of strategy) {
	refusals, err := ReadRefusals("testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	sessions := openAll(t, all, primitive.ProtocolVersion5)
	for _, s := range sessions {
		if err := s.must("CREATE TYPE udt (a int, b text)"); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := encode(sessions[0])
	if err != nil {
		t.Fatal(err)
	}
	tally := &Tally{}
	histories, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if !failed {
			histories++ // while rapid shrinks a failure, the deal stays the same
		}
		script := drawHistory(rt, encoded, of, dealOf(histories, of))
		var faults []string
		r := &Runner{Sessions: sessions, Refusals: refusals, Tally: tally, AnyRefusal: true, SendNow: true,
			Report: func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }}
		r.Run(script)
		faults = slices.DeleteFunc(faults, judgeFailed)
		if len(faults) > 0 {
			failed = true
			rt.Fatalf("%s\n\nThe history:\n%s", strings.Join(faults, "\n"), script.Print())
		}
	})
	if t.Failed() {
		return
	}
	for _, s := range sessions {
		for _, below := range tally.BelowShare(s.Name, histories) {
			if of == random && strings.HasPrefix(below, "conditional:") {
				continue
			}
			t.Errorf("%s accepted too few statements of a class in %d histories: %s", s.Name, histories, below)
		}
	}
	t.Logf("%d histories; accepted statements:\n%v", histories, tally)
}
