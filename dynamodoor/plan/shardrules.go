// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// CheckTags returns an error if no table can have these tags: own for the table itself, nil if it
// has none, and those of its indexes by name.
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
