// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// target is the object of a request, or of a part of one.
type target struct {
	table string
	at    func(hash string) (attribute.Value, bool) // returns the value of a partition key attribute; nil: unknown
}

// targetOf returns the object of a request. The target has no table if the request names none, or
// several.
func targetOf(q api.Request) target {
	switch q := q.(type) {
	case *api.GetItem:
		return target{q.Table, q.Key.Get}
	case *api.PutItem:
		return target{q.Table, q.Item.Get}
	case *api.UpdateItem:
		return target{q.Table, q.Key.Get}
	case *api.DeleteItem:
		return target{q.Table, q.Key.Get}
	case *api.Query:
		return target{q.Table, q.KeyCondition.EqualTo}
	case *api.Scan:
		return target{table: q.Table}
	case *api.BatchGetItem:
		if len(q.Tables) == 1 {
			return target{table: q.Tables[0].Table}
		}
	case *api.BatchWriteItem:
		if len(q.Tables) == 1 {
			return target{table: q.Tables[0].Table}
		}
	}
	return target{}
}

// action returns the object of action i of a transaction.
func action(q api.Request, i int) target {
	switch q := q.(type) {
	case *api.TransactGetItems:
		if i < len(q.Gets) {
			return target{q.Gets[i].Table, q.Gets[i].Key.Get}
		}
	case *api.TransactWriteItems:
		if i < len(q.Actions) {
			a := q.Actions[i]
			if a.Item != nil {
				return target{a.Table, a.Item.Get}
			}
			return target{a.Table, a.Key.Get}
		}
	}
	return target{}
}

// unprocessed calls f with each part of a batch that the store left out.
func unprocessed(r api.Response, f func(target)) {
	switch r := r.(type) {
	case *api.BatchGetResponse:
		for _, t := range r.Unprocessed {
			for _, key := range t.Keys {
				f(target{t.Table, key.Get})
			}
		}
	case *api.BatchWriteResponse:
		for _, t := range r.Unprocessed {
			for _, w := range t.Writes {
				if w.Item != nil {
					f(target{t.Table, w.Item.Get})
				} else {
					f(target{t.Table, w.Key.Get})
				}
			}
		}
	}
}

// key returns the text of the target's partition key in the table, or in an index. It returns "" if
// the key is unknown.
func (g target) key(t *schema.Table, index string) string {
	if t == nil || g.at == nil {
		return ""
	}
	k := t.Key
	if index != "" {
		ix, _ := t.Index(index)
		if ix == nil {
			return ""
		}
		k = ix.Key
	}
	texts := make([]string, len(k.Hash))
	for i, name := range k.Hash {
		v, ok := g.at(name)
		if !ok {
			return ""
		}
		texts[i] = v.Text()
		if v.Kind() == attribute.B {
			texts[i] = base64.StdEncoding.EncodeToString([]byte(v.Text()))
		}
	}
	return strings.Join(texts, ",")
}

// longestShown is the largest length of a key that is shown.
const longestShown = 64

// shown returns a key's text for the operator, in its own memory.
func shown(key string) string {
	key = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, key)
	if r := []rune(key); len(r) > longestShown {
		return string(r[:longestShown]) + "…"
	}
	return strings.Clone(key)
}

// hashed returns what is shown instead of a secret key: the first 12 digits of the SHA-256 of its
// text.
func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}
