// SPDX-License-Identifier: Apache-2.0

package read

import (
	"fmt"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

func TestThrottled(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&wire.Error{Code: wire.CodeReadTimeout, Required: 2}, true},
		{fmt.Errorf("fetch: %w", &wire.Error{Code: wire.CodeReadTimeout, Required: 2}), true},
		{&wire.Error{Code: wire.CodeReadTimeout, Required: 2, Received: 1}, false},
		{&wire.Error{Code: wire.CodeOverloaded}, true},
		{&wire.Error{Code: wire.CodeWriteTimeout}, false},
		{&wire.Error{Code: wire.CodeInvalid}, false},
		{fmt.Errorf("other"), false},
		{nil, false},
	} {
		if got := throttled(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
