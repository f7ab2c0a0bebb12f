// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/engine/throughput"
)

// capacityFlags are the flags of serve that make the embedded engine imitate the limits and
// delays of a real store.
type capacityFlags struct {
	Capacity           []string      `placeholder:"STORE,…" help:"Apply a store's limits, so that a hot key shows on this machine: dynamodb, keyspaces, or both with a comma between them. Only for the embedded engine."`
	CapacitySplitAfter time.Duration `placeholder:"TIME" default:"10m" help:"How long a partition is too hot before it is split; 0 for never (${default})."`
	IndexLag           time.Duration `placeholder:"TIME" default:"0s" help:"How far global indexes of the DynamoDB door are behind their table when they are read (${default})."`

	clock func() time.Time // the embedded engine's clock; nil: the machine's
}

// These are the stores whose limits the engine can apply.
const (
	likeDynamoDB  = "dynamodb"
	likeKeyspaces = "keyspaces"
)

// checkCapacity returns an error if the flags for limits are wrong.
func (s *serveCmd) checkCapacity() error {
	for _, store := range s.Capacity {
		if store != likeDynamoDB && store != likeKeyspaces {
			return withHint(fmt.Errorf("--capacity %s: evenkeel does not know the limits of such a store", store), "dynamodb, keyspaces, or both: --capacity dynamodb,keyspaces")
		}
	}
	off := s.withoutDynamoDB()
	switch {
	case slices.Contains(s.Capacity, likeKeyspaces) && len(s.Cassandra) > 0:
		return withHint(fmt.Errorf("--capacity keyspaces: only the embedded engine applies limits, and this door is in front of %s", strings.Join(s.Cassandra, ", ")), "go without --cassandra")
	case s.DynamoDB != "" && (slices.Contains(s.Capacity, likeDynamoDB) || s.IndexLag > 0):
		return withHint(fmt.Errorf("--capacity dynamodb and --index-lag are for the embedded engine, and this door is in front of %s", s.DynamoDB), "go without --dynamodb")
	case slices.Contains(s.Capacity, likeDynamoDB) && off:
		return withHint(errors.New("--capacity dynamodb: there is no DynamoDB door"), "--listen-dynamodb 127.0.0.1:8000 opens one")
	case s.IndexLag > 0 && off:
		return withHint(errors.New("--index-lag: there is no DynamoDB door"), "--listen-dynamodb 127.0.0.1:8000 opens one")
	case s.CapacitySplitAfter < 0:
		return withHint(fmt.Errorf("--capacity-split-after %s: is negative", s.CapacitySplitAfter), "0 is never")
	case s.IndexLag < 0 || s.IndexLag > time.Minute:
		return fmt.Errorf("--index-lag %s: is not from 0 to a minute", s.IndexLag)
	}
	return nil
}

// limits returns the limits of a store, or nil if the flags do not ask for them.
func (s *serveCmd) limits(store string) *throughput.Limits {
	if !slices.Contains(s.Capacity, store) {
		return nil
	}
	l := throughput.Limits{SplitAfter: s.CapacitySplitAfter}
	if l.SplitAfter == 0 {
		l.SplitAfter = -1
	}
	l = l.WithDefaults()
	return &l
}

// sayCapacity prints which limits the engine applies.
func (s *serveCmd) sayCapacity(out io.Writer) {
	for _, store := range []struct{ flag, name string }{{likeDynamoDB, "DynamoDB"}, {likeKeyspaces, "Amazon Keyspaces"}} {
		l := s.limits(store.flag)
		if l == nil {
			continue
		}
		split := "never split for heat"
		if l.SplitAfter > 0 {
			split = fmt.Sprintf("split after %s of heat", l.SplitAfter)
		}
		fmt.Fprintf(out, "evenkeel: with the limits of %s: %.0f write and %.0f read units a second and partition, %s\n", store.name, l.Partition.Write, l.Partition.Read, split)
	}
	if s.IndexLag > 0 {
		fmt.Fprintf(out, "evenkeel: reads of global indexes see the state of %s ago\n", s.IndexLag)
	}
}
