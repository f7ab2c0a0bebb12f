// SPDX-License-Identifier: Apache-2.0

package items

import (
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

// tokenKey returns the key of a token's entry. Its value has the digest of the transaction.
func (s *Store) tokenKey(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return append([]byte{s.space.Prefix, regionToken}, sum[:]...)
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

// token reads the entry of a token. It finds only tokens that have not expired.
func (s *Store) token(key []byte) (digest uint64, found bool, err error) {
	v, err := get(s.space, key)
	if err != nil || v == nil {
		return 0, false, err
	}
	at, digest, err := parseTokenValue(v)
	return digest, err == nil && s.options.Clock().Sub(at) < tokenLife, err
}

// sweepTokens removes tokens that have expired.
func (s *Store) sweepTokens() error {
	lower := []byte{s.space.Prefix, regionToken}
	it, err := s.space.Pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: appendAfter(nil, lower)})
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	var errs []error
	for ok := it.First(); ok && s.ctx.Err() == nil; ok = it.Next() {
		at, _, err := parseTokenValue(it.Value())
		if err == nil && s.options.Clock().Sub(at) < tokenLife {
			continue
		}
		// Read again under the transaction's lock: the token may be in use again.
		h := new(held)
		key := append([]byte(nil), it.Key()...)
		h.lock(&s.locks, key)
		v, err := get(s.space, key)
		if err == nil && v != nil {
			if at, _, bad := parseTokenValue(v); bad != nil || s.options.Clock().Sub(at) >= tokenLife {
				err = s.space.Pebble.Delete(key, pebble.NoSync)
			}
		}
		h.unlock()
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, it.Error(), it.Close())...)
}
