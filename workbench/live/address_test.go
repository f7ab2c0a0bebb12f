// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want live.Address
	}{
		{"cql://h/ks.t", live.Address{Hosts: []string{"h:9042"}, Keyspace: "ks", Table: "t"}},
		{"cql://me@h:1/KS.T", live.Address{User: "me", Hosts: []string{"h:1"}, Keyspace: "ks", Table: "t"}},
		{"cql://a@b.com@h,[::1]:7,10.0.0.1/k.t", live.Address{User: "a@b.com", Hosts: []string{"h:9042", "[::1]:7", "10.0.0.1:9042"}, Keyspace: "k", Table: "t"}},
		{`cql://h/"My Ks"."T.""x"`, live.Address{Hosts: []string{"h:9042"}, Keyspace: "My Ks", Table: `T."x`}},
		{"cql://u%3Aser@h/k.%22T%22", live.Address{User: "u:ser", Hosts: []string{"h:9042"}, Keyspace: "k", Table: "T"}},
	} {
		got, err := live.Parse(c.text)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.text, err, diff)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"http://h/k.t", "is not the address of a table"},
		{"cql://h", "names no table"},
		{"cql://h/", "names no table"},
		{"cql://h/k", "names a keyspace and no table"},
		{"cql://h/k.", "a name is empty"},
		{"cql://h/k.t.u", "is too much"},
		{"cql://h/k.a-b", "is not a name"},
		{`cql://h/"k.t`, "a double quote is not closed"},
		{"cql:///k.t", "is no host"},
		{"cql://h:0/k.t", "has no port"},
		{"cql://h:99999/k.t", "has no port"},
		{"cql://u:secret@h/k.t", "has a password in it"},
		{"cql://@h/k.t", "is no user"},
	} {
		_, err := live.Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || livetable.Hint(err) == "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v (hint %q), want %s", c.text, err, livetable.Hint(err), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"cql://h/ks.t", "cql://me@h:1,[::1]/KS.T", `cql://h/"My Ks"."T.""x"`, "cql://u%3Aser@h/k.t%2F"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := live.Parse(text)
		if err != nil {
			return
		}
		again, err := live.Parse(a.String())
		if diff := cmp.Diff(a, again); err != nil || diff != "" {
			t.Fatalf("%q is written %q: %v %s", text, a, err, diff)
		}
	})
}
