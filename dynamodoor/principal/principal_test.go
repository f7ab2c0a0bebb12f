// SPDX-License-Identifier: Apache-2.0

package principal

import (
	"context"
	"testing"
)

func TestPrincipalGoesWithTheContext(t *testing.T) {
	ctx := context.Background()
	if Of(ctx) != (Principal{}) || Of(ctx).String() != "the door" {
		t.Errorf("a context that does not say has %v", Of(ctx))
	}
	a, b := With(ctx, Principal{ID: "AKIDA"}), With(ctx, Principal{ID: "AKIDB"})
	if Of(a) != (Principal{ID: "AKIDA"}) || Of(a) == Of(b) || Of(a).String() != "AKIDA" {
		t.Errorf("%v and %v", Of(a), Of(b))
	}
	if inner := With(a, Principal{}); Of(inner) != (Principal{}) {
		t.Errorf("what the door asks within a client's request is its own, not %v's", Of(inner))
	}
}
