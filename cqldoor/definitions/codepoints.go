// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"fmt"
	"math/big"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/shard"
)

// codePoints returns an error if a table cannot have the hash 'code_points', which is from the Keyspaces document.
// Otherwise it returns a warning about the skew of that hash.
func (d declaration) codePoints(t *schema.Table, l *shard.Layout) ([]string, error) {
	by := t.Clustering
	if len(l.By) > 0 {
		by = nil
		for _, name := range l.By {
			by = append(by, t.Columns[name])
		}
	}
	for _, c := range by {
		if c.Type.Kind != value.Text && c.Type.Kind != value.Ascii {
			return nil, wire.Errorf(wire.CodeConfig, "write_sharding: hash 'code_points' multiplies the characters of text, and %s is %s; "+
				"name text columns in 'by', or use 'murmur3'", request.Identifier(c.Name), c.Type)
		}
	}
	return []string{skewed(l.N)}, nil
}

// skewed returns the warning for code_points.
func skewed(n int) string {
	why := fmt.Sprintf("write_sharding: hash 'code_points' is skewed over %d shards", n)
	if p := nextPrime(n); p != n {
		why += fmt.Sprintf(": a product collects the factors of %d, so most rows come to few shards; "+
			"%d shards, a prime number, are less so", n, p)
	} else {
		why += ", though less so than over a number that is not prime"
	}
	return why + "; with 'murmur3' they are even"
}

// nextPrime returns the smallest prime that is not less than n.
func nextPrime(n int) int {
	for ; !big.NewInt(int64(n)).ProbablyPrime(0); n++ {
	}
	return n
}
