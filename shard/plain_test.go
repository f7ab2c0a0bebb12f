// SPDX-License-Identifier: Apache-2.0

package shard

import "testing"

// TestPlain checks that the layout of a plain table puts everything into one place, which no
// sharded layout uses.
func TestPlain(t *testing.T) {
	l := Plain()
	if !l.Plain() || len(l.Options()) > 0 || l.String() != "{}" {
		t.Errorf("plain is %s", l)
	}
	for _, key := range []string{"", "a", "b"} {
		if at := l.ShardOf([]byte(key), []byte(key)); at != PlainPlace || l.Home([]byte(key)) != PlainPlace || l.Shards([]byte(key)) != 1 {
			t.Errorf("a row of key %q is in %d", key, at)
		}
	}
	s := l.Default()
	if places := s.Places(); len(places) != 1 || places[0] != PlainPlace || l.Last() != PlainPlace {
		t.Errorf("the places are %v, the last %d", places, l.Last())
	}
	for _, options := range []map[string]string{{"shards": "1"}, {"shards": "4", "column": "x"}, {"strategy": "random", "shards": "2"}} {
		other, err := Parse(options)
		if err != nil {
			t.Fatal(err)
		}
		if d := other.Default(); other.Plain() || d.Contains(PlainPlace) || other.Equal(l) {
			t.Errorf("%s is plain, or has its place", other)
		}
	}
	if _, err := Parse(l.Options()); err == nil {
		t.Error("a declaration is read as a plain layout")
	}
	if _, err := Parse(map[string]string{"shards": "1", "column": ""}); err == nil {
		t.Error("a column without a name is declared")
	}
}
