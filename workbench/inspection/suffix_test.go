// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"strings"
	"testing"
)

func TestSuffixedByHand(t *testing.T) {
	of := func(format string, from, to int) (list []string) {
		for n := from; n <= to; n++ {
			list = append(list, fmt.Sprintf(format, n))
		}
		return list
	}
	for what, c := range map[string]struct {
		keys []string
		want string // of evidence and advice; empty: no finding
	}{
		"shards of one key":         {of("121212-%d", 1, 5), `of the 5 largest item collections 5 have a partition key that ends in "-" and a number (1 to 5), after 1 beginnings`},
		"of two keys":               {append(of("2014-07-09.%d", 0, 3), of("2014-07-10.%d", 0, 3)...), `after 2 beginnings`},
		"another separator, from 0": {of("a#%d", 0, 3), `adopt=suffix shards=N separator=U+0023 first=0,`},
		"two of a tag's":            {of("a--%d", 1, 4), `shards=N separator=--,`},
		"what no tag can say":       {of("a##%d", 1, 4), ""},
		"a dot":                     {of("a.%d", 1, 4), `shards=N separator=.,`},
		"numbers of their own":      {[]string{"inv-1", "inv-907", "other-3", "x"}, ""},
		"identifiers":               {append(of("inv-%d", 1, 4), "inv-30"), ""},
		"too few of one":            {[]string{"a-1", "a-2", "b-1", "b-2"}, ""},
		"some of many":              {append(of("a-%d", 1, 3), "b", "c", "d", "e"), ""},
		"leading zeros":             {[]string{"a-01", "a-02", "a-03"}, ""},
		"no key at all":             {nil, ""},
	} {
		ri := &Report{}
		ri.Key.PartitionKey = []string{"k"}
		for _, k := range c.keys {
			ri.Largest = append(ri.Largest, Large{Key: []KeyValue{{"k", k}}})
		}
		f := suffixedByHand(ri)
		switch {
		case f == nil && c.want != "":
			t.Errorf("%s: nothing is found", what)
		case f != nil && (c.want == "" || !strings.Contains(f.Evidence+f.Advice, c.want)):
			t.Errorf("%s: %+v", what, f)
		}
	}
}
