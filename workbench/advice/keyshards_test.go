// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestKeyShards checks that if one key alone is hot, only that key gets the shards, and that the
// report says what all others would cost.
func TestKeyShards(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tb := &table{names: []string{"order_id", "user_id"}}
	for i := range 20_000 {
		user := "o'hara"
		if r.IntN(10) >= 4 {
			user = fmt.Sprint("u", r.IntN(2000))
		}
		tb.rows = append(tb.rows, []string{fmt.Sprintf("%x", uint64(i)*0x9e3779b97f4a7c15), user})
	}
	reads := "SELECT * FROM shop.orders WHERE user_id = ? LIMIT 100 -- 400/s\n"
	insert := "SELECT * FROM shop.orders WHERE user_id = ? AND order_id = ? -- 100/s\nINSERT INTO shop.orders (order_id, user_id) VALUES (?, ?) -- 9k/s\n"
	v := advise(t, tb, reads+insert, Options{Target: Keyspaces}).Verdict
	k := v.KeyShards
	if k == nil || len(k.Keys) != 1 || k.Others != 1 || k.Keys[0].Shards != v.Shards || v.Shards < 4 {
		t.Fatalf("%+v, of %d shards", k, v.Shards)
	}
	if want := fmt.Sprintf(`evenkeel reshard key --cql HOST:PORT shop.orders 'o'\''hara' --shards %d`, v.Shards); k.Keys[0].Command != want {
		t.Errorf("%s, not %s", k.Keys[0].Command, want)
	}
	// Each read of a key reads all its shards. There are 400 reads a second, and one key in 2,001
	// has the shards.
	if want := fmt.Sprintf("%d partitions of each in place of 1: %s more a second", v.Shards, number(400*float64(v.Shards-1)*2000/2001)); !strings.Contains(k.Why, want) {
		t.Errorf("%s, without %s", k.Why, want)
	}
	if !strings.Contains(k.DDL, "'shards': '1'") {
		t.Error(k.DDL)
	}
	if v := advise(t, tb, insert, Options{Target: Keyspaces}).Verdict; v.KeyShards != nil {
		t.Errorf("no query reads a whole key, and yet %+v", v.KeyShards)
	}
	for i := range tb.rows { // many keys are hot
		tb.rows[i][1] = fmt.Sprint("u", i%8)
	}
	if v := advise(t, tb, strings.ReplaceAll(reads+insert, "9k/s", "60k/s"), Options{Target: Keyspaces}).Verdict; v.KeyShards != nil {
		t.Errorf("all keys are hot, and yet %+v", v.KeyShards)
	}
}
