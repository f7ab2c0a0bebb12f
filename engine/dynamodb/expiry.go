// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// oldest is the largest age of an expiry time for which the store removes the item, as in AWS. So a
// user who writes the time in another unit does not lose everything.
const oldest = 5 * 365 * 24 * time.Hour

// expiryOf returns the time at which an item expires, in seconds since 1970. It returns false if
// the item does not expire.
func expiryOf(sh *shape, item attribute.Item) (int64, bool) {
	v, ok := item.Get(sh.expiry)
	if !ok || v.Kind() != attribute.N {
		return 0, false
	}
	whole, _, _ := strings.Cut(v.Text(), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil && n > 0
}

// appendExpiryKey appends the key of an expiry time of the item at key.
func (sh *shape) appendExpiryKey(dst []byte, at int64, key []byte) []byte {
	dst = sh.prefix(dst, indexExpiry)
	dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	return append(dst, key[prefixLen:]...)
}

// writeExpiry updates the entry of an item's expiry time.
func (sh *shape) writeExpiry(b *pebble.Batch, before, after attribute.Item, key []byte) error {
	if sh.expiry == "" {
		return nil
	}
	was, had := expiryOf(sh, before)
	is, has := expiryOf(sh, after)
	if had == has && was == is {
		return nil
	}
	var err error
	if had {
		err = b.Delete(sh.appendExpiryKey(nil, was, key), nil)
	}
	if has {
		err = errors.Join(err, b.Set(sh.appendExpiryKey(nil, is, key), nil, nil))
	}
	return err
}
