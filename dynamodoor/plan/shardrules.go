// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// CheckTags says whether the value of a table's tag, and those of its indexes' tags by their
// names, can be those of some table. own is nil where the table itself has no tag.
func CheckTags(table string, own *string, indexes map[string]string) error {
	some := &schema.Table{Name: table, Key: schema.Key{Range: []string{"sort"}}}
	if own != nil {
		l, err := parseLayout(table, *own)
		if err == nil {
			err = checkShardable(some, l)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		if _, _, err := DeclareIndex(some, name, indexes[name]); err != nil {
			return err
		}
	}
	return nil
}
