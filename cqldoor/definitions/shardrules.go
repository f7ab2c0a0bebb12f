// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/shardrules"
)

// ShardRules applies the shard rules (package shardrules) to CREATE TABLE, as if the statement had the property
// write_sharding. The catalogue has the rules. The door reads them for each CREATE TABLE, so all doors use the same
// rules, even while a door replaces them.
type ShardRules struct {
	Catalog *catalog.Catalog
	Opts    *Options
}

// ErrOtherRules says that the store's shard rules differ from those in the door's options.
var ErrOtherRules = errors.New("this door's shard rules are not those that the doors of this cluster go by")

// Start makes sure that the store has the rules in the door's options. If the options have none, the door uses the
// store's rules. Start returns the rules, or nil if there are none. It returns ErrOtherRules if the store has other
// rules and the door may not replace them.
func (k *ShardRules) Start(ctx context.Context) (*shardrules.Rules, error) {
	const tries = 10 // attempts when several doors start at the same time
	for range tries {
		kept, theirs, err := k.read(ctx)
		if err != nil {
			return nil, err
		}
		mine := k.Opts.Rules
		if mine == nil || mine.Len() == 0 && kept == nil {
			if theirs.Len() > 0 {
				k.Opts.Log.Info("this door uses the shard rules that are in the store", "rules", theirs.Len(), "file", theirs.File, "door", kept.Door)
			}
			return theirs, nil
		}
		differs := shardrules.Difference(mine, theirs)
		if kept != nil && differs == "" {
			return mine, nil
		}
		if kept != nil && k.Opts.Lease > 0 && !k.Opts.ReplaceRules {
			return nil, fmt.Errorf("%w: the file %s has other rules than %s, which door %s wrote to the cluster at %s: %s",
				ErrOtherRules, mine.File, theirs.File, kept.Door, kept.Written.UTC().Format("2006-01-02 15:04:05 MST"), differs)
		}
		done, err := k.Catalog.KeepRules(ctx, kept, &catalog.Rules{Text: shardrules.Encode(mine), Door: k.Opts.Self.Name(), Written: k.Opts.Now()})
		if err != nil {
			return nil, err
		}
		if done {
			if kept != nil {
				k.Opts.Log.Info("the shard rules were replaced", "file", mine.File, "rules", mine.Len(), "before", theirs.File, "difference", differs)
			}
			return mine, nil
		}
	}
	return nil, errors.New("other doors are writing shard rules at this time; start this one again")
}

// read reads the store's rules, in both forms. It returns nil if there are none.
func (k *ShardRules) read(ctx context.Context) (*catalog.Rules, *shardrules.Rules, error) {
	kept, err := k.Catalog.Rules(ctx)
	if err != nil || kept == nil {
		return nil, nil, err
	}
	rules, err := shardrules.Decode(kept.Text)
	return kept, rules, err
}

// now reads the store's present rules. It returns nil if there are none.
func (k *ShardRules) now(ctx context.Context) (*shardrules.Rules, error) {
	_, rules, err := k.read(ctx)
	if err != nil {
		return nil, errCatalog(err)
	}
	return rules, nil
}
