// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/evenkeel/evenkeel/reshard"
)

// askEvery is how often a command that waits for a change asks for its status.
const askEvery = 500 * time.Millisecond

// waitForChange waits until a change is over. After the first two seconds it reports the progress
// on stderr: one line that is rewritten on a terminal, one line for each step elsewhere.
func waitForChange(ctx context.Context, out io.Writer, door reshard.Changer, s reshard.Status) (reshard.Status, error) {
	p := newProgress(out, nil)
	defer p.end()
	told := ""
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for s.Phase != reshard.NoPhase {
		if time.Since(p.began) >= progressAfter {
			what := s.Phase + s.Problem
			switch {
			case p.terminal:
				fmt.Fprintf(out, "\r\x1b[K%s", progressText(&s))
				p.shown = true
			case what != told:
				fmt.Fprintf(out, "evenkeel: %s\n", progressText(&s))
			}
			told = what
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return s, ctx.Err()
		}
		next, err := door.Status(ctx)
		if err != nil {
			return s, err
		}
		s = next
	}
	return s, nil
}

// progressText describes the progress of a change in one line.
func progressText(s *reshard.Status) string {
	text := fmt.Sprintf("%s: %s, %d of %d rows moved, %d verified", s.Table, s.Phase, s.RowsMoved, s.RowsTotal, s.RowsVerified)
	if s.StepDone > 0 {
		text += fmt.Sprintf(", %.0f%% of this step", 100*s.StepDone)
	}
	if s.Rate > 0 {
		text += fmt.Sprintf(", %d rows/s", s.Rate)
	}
	if s.ETASeconds > 0 {
		text += fmt.Sprintf(", %v left", time.Duration(s.ETASeconds)*time.Second)
	}
	if s.StoreMillis > 0 {
		text += fmt.Sprintf(", the store answers in %.1f ms (%.1f when it was least busy)", s.StoreMillis, s.StoreQuietMillis)
	}
	if s.Paused {
		text += ", paused"
	}
	if s.Problem != "" {
		text += "; it does not go on: " + s.Problem
	}
	return text
}
