// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/storage"
)

// tokenLife is the time for which a ClientRequestToken makes a transaction idempotent.
const tokenLife = 10 * time.Minute

// tokens remembers the transactions that had a ClientRequestToken.
type tokens struct {
	*base
	locks *stripes
}

// key returns the key of a token's entry. Its value has the digest of the transaction.
func (tk *tokens) key(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return append([]byte{tk.space.Prefix, regionToken}, sum[:]...)
}

func appendTokenValue(dst []byte, at time.Time, digest uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(at.Unix()))
	return binary.BigEndian.AppendUint64(dst, digest)
}

func parseTokenValue(v []byte) (at time.Time, digest uint64, err error) {
	if len(v) != 16 {
		return at, 0, fmt.Errorf("%w: a transaction's token", storage.ErrCorrupt)
	}
	return time.Unix(int64(binary.BigEndian.Uint64(v)), 0), binary.BigEndian.Uint64(v[8:]), nil
}

// find reads the entry of a token. It finds only tokens that have not expired.
func (tk *tokens) find(key []byte) (digest uint64, found bool, err error) {
	v, err := get(tk.space, key)
	if err != nil || v == nil {
		return 0, false, err
	}
	at, digest, err := parseTokenValue(v)
	return digest, err == nil && tk.clock().Sub(at) < tokenLife, err
}

// sweep removes tokens that have expired.
func (tk *tokens) sweep(ctx context.Context) error {
	lower := []byte{tk.space.Prefix, regionToken}
	it, err := tk.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: appendAfter(nil, lower)})
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	var errs []error
	for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
		at, _, err := parseTokenValue(it.Value())
		if err == nil && tk.clock().Sub(at) < tokenLife {
			continue
		}
		// Read again under the transaction's lock: the token may be in use again.
		h := new(held)
		key := append([]byte(nil), it.Key()...)
		h.lock(tk.locks, key)
		v, err := get(tk.space, key)
		if err == nil && v != nil {
			if at, _, bad := parseTokenValue(v); bad != nil || tk.clock().Sub(at) >= tokenLife {
				err = tk.space.Pebble.Delete(key, pebble.NoSync)
			}
		}
		h.unlock()
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, it.Error(), it.Close())...)
}
