// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"regexp"
	"strconv"
)

// suffixed matches a partition key that ends like a shard: its beginning, a separator without
// digits, and a number without leading zeros. A separator of two characters is one that the value
// of a tag can contain.
var suffixed = regexp.MustCompile(`^(.*[^-._#|:/@+~])?([-._#|:/@+~]|[-._:/@+]{2})(0|[1-9][0-9]{0,3})$`)

// leastSuffixed is how many shards of one key must be among the largest item collections to be
// recognized as shards.
const leastSuffixed = 3

// suffixedByHand returns the finding that the largest item collections may be shards of fewer keys,
// with a number at the end of the partition key. nil: they do not look like that.
func suffixedByHand(ri *Report) *Finding {
	type beginning struct{ key, separator string }
	keys, numbers := make(map[beginning]int), make(map[int]bool)
	first, last, many, separator := 1, 0, 0, ""
	for _, l := range ri.Largest {
		if len(l.Key) == 0 {
			return nil
		}
		m := suffixed.FindStringSubmatch(l.Key[0].Value)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[3]) // at most four digits
		first, last = min(first, n), max(last, n)
		b := beginning{m[1], m[2]}
		if keys[b]++; keys[b] == leastSuffixed {
			separator = m[2]
		}
		numbers[n] = true
		many++
	}
	// Among shards, the largest ones are most of those that exist. Among identifiers, they are few
	// of many.
	if separator == "" || many*2 < len(ri.Largest) || last-first >= 2*len(numbers) {
		return nil
	}
	how := "shards=N"
	if separator != "-" {
		how += " separator=" + separator
		if separator == "#" || separator == "|" || separator == "~" {
			how = fmt.Sprintf("shards=N separator=U+%04X", separator[0])
		}
	}
	if first == 0 {
		how += " first=0"
	}
	return &Finding{Name: "keys that end in a number", Columns: ri.Key.PartitionKey,
		Evidence: fmt.Sprintf("of the %d largest item collections %d have a partition key that ends in %q and a number (%d to %d), after %d beginnings, as where a key is spread by hand.", len(ri.Largest), many, separator, first, last, len(keys)),
		Advice: "If the number is a shard, an evenkeel door adopts the table as it is, and applications leave it out: TagResource with write-sharding = adopt=suffix " + how +
			", and strategy=calculated where it is computed of the sort key, else strategy=random write-once.",
	}
}
