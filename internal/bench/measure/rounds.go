// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Part is a part of a benchmark.
type Part struct {
	Name string
	Run  func(context.Context) error
}

// Run runs the parts whose names contain only; all parts if it is empty.
func Run(ctx context.Context, only string, parts ...Part) error {
	for _, p := range parts {
		if !strings.Contains(p.Name, only) {
			continue
		}
		Progress("%s", p.Name)
		if err := p.Run(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// Progress reports the current work on stderr.
func Progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

// Rounds measures each arm once a round, and once before, which does not count. It returns the
// samples by arm.
func Rounds(ctx context.Context, rounds, arms int, once func(arm int) (Sample, error)) ([][]Sample, error) {
	samples := make([][]Sample, arms)
	for round := -1; round < rounds; round++ {
		for i := range arms {
			// Every other round is backwards, so that no arm always follows the same one.
			if round%2 == 0 {
				i = arms - 1 - i
			}
			s, err := once(i)
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				samples[i] = append(samples[i], s)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	return samples, nil
}
