package syntax

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTmp(t *testing.T) {
	b, _ := os.ReadFile("/tmp/ek/syntax/base.txt")
	for _, q := range strings.Split(string(b), "\n") {
		q = strings.ReplaceAll(q, `\n`, "\n")
		if q == "" {
			continue
		}
		s, err := Parse(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		checkTarget(t, q, s)
		p := Print(s)
		s2, err := Parse(p)
		if err != nil {
			t.Errorf("%s\n%s: %v", q, p, err)
			continue
		}
		if d := cmp.Diff(s, s2); d != "" {
			t.Errorf("%s\n%s\n%s", q, p, d)
		}
	}
}
