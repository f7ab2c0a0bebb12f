// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// countdown is the context of a client that disconnects after a number of checks.
type countdown struct {
	context.Context
	left atomic.Int64
}

func countingDown(ctx context.Context, checks int) *countdown {
	c := &countdown{Context: ctx}
	c.left.Store(int64(checks))
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestABatchOfStatementsEnds checks that statements of a batch that have not begun when the client
// disconnects are not carried out.
func TestABatchOfStatementsEnds(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(3))
	var all []string
	for i := range 25 {
		all = append(all, fmt.Sprintf(`{"Statement":"INSERT INTO Tab VALUE {'h':'a','r':'%d'}"}`, i))
	}
	s.store.took()
	_, err := s.Do(countingDown(t.Context(), 5), "BatchExecuteStatement", []byte(`{"Statements":[`+strings.Join(all, ",")+`]}`), nil)
	if err == nil {
		t.Error("a batch goes on when its client has gone")
	}
	if n, _ := s.store.took(); n["PutItem"] > 5 {
		t.Errorf("%d items are put", n["PutItem"])
	}
}
