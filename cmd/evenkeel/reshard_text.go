// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/reshard"
)

// statusText describes the progress of a change in words.
func statusText(s *reshard.Status) string {
	var b strings.Builder
	if s.Phase == reshard.NoPhase {
		fmt.Fprintf(&b, "%s: %s, no change under way\n", s.Table, layoutText(s.To, s.ToLayout))
		if s.Keys > 0 {
			fmt.Fprintf(&b, "keys with a number of shards of their own: %d\n", s.Keys)
		}
		if s.Result != "" {
			fmt.Fprintf(&b, "the last change was %s at %s, after %v\n", s.Result, s.Ended.Format(time.RFC3339), s.Ended.Sub(s.Began).Round(time.Millisecond))
		}
		if s.RowsTotal > 0 {
			fmt.Fprintf(&b, "the last change read %d rows, moved %d and verified %d\n", s.RowsTotal, s.RowsMoved, s.RowsVerified)
		}
		return b.String()
	}
	name := s.Table
	if s.Key != "" {
		name += ", key " + s.Key
	}
	fmt.Fprintf(&b, "%s: %s to %s, %s", name, layoutText(s.From, s.FromLayout), layoutText(s.To, s.ToLayout), s.Phase)
	if s.Paused {
		b.WriteString(", paused")
	}
	fmt.Fprintf(&b, "\nread %d, moved %d", s.RowsTotal, s.RowsMoved)
	if s.RowsToMove > 0 {
		fmt.Fprintf(&b, " of about %d", s.RowsToMove)
	}
	fmt.Fprintf(&b, ", verified %d\n", s.RowsVerified)
	if s.StepDone > 0 {
		fmt.Fprintf(&b, "%.0f%% of this step is done\n", 100*s.StepDone)
	}
	if s.Rate > 0 {
		fmt.Fprintf(&b, "%d rows a second", s.Rate)
		if s.ETASeconds > 0 {
			fmt.Fprintf(&b, ", done in about %v", time.Duration(s.ETASeconds)*time.Second)
		}
		b.WriteByte('\n')
	}
	if s.StoreMillis > 0 {
		fmt.Fprintf(&b, "the store answers in %.1f ms, in %.1f ms when it was least busy\n", s.StoreMillis, s.StoreQuietMillis)
	}
	if s.Problem != "" {
		fmt.Fprintf(&b, "it does not go on: %s\n", s.Problem)
	}
	return b.String()
}
