// SPDX-License-Identifier: Apache-2.0

//go:build !race

// Under the race detector, pools drop some of what is put into them.

package run

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

// TestQueryAllocates checks what a page of 10 items over 50 shards costs. It takes one request to the
// store, and no item is decoded.
func TestQueryAllocates(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(50))
	fill(t, s, 500, strings.Repeat("x", 900))
	body := []byte(`{"TableName":"Tab","Limit":10,"KeyConditionExpression":"h = :h AND r >= :r","ExpressionAttributeValues":{":h":{"S":"121212"},":r":{"S":"Client0100"}}}`)
	var dst []byte
	n := allocs.PerRun(20, func() {
		var err error
		if dst, err = s.Do(t.Context(), "Query", body, dst[:0]); err != nil {
			t.Fatal(err)
		}
	})
	if n > 80 {
		t.Errorf("%v allocations", n)
	}
	t.Logf("%v allocations", n)
}
