// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"
	"time"
)

func FuzzIterator(f *testing.F) {
	p := position{arn: "arn:aws:dynamodb:us-east-1:000000000000:table/Tab/stream/x", first: 1, from: 7, made: time.UnixMilli(1)}
	f.Add(p.String())
	f.Add("|1|")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseIterator(text)
		if err == nil && p.String() != text {
			t.Errorf("%q is read as %q", text, p.String())
		}
	})
}

func FuzzChange(f *testing.F) {
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 3, 2, 0, '{', '}'})
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := parseChange(value)
		if err == nil && len(r.Keys)+len(r.New)+len(r.Old) > len(value) {
			t.Error("more than there is")
		}
	})
}
