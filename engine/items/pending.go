package items

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

func respond(v any) api.Response { return v.(api.Response) }

func checkQuery(t *schema.Table, q *api.Query) (k expression.KeyRange, err error) {
	key := t.Key
	if q.Index != "" {
		ix, _ := t.Index(q.Index)
		key = ix.Key
	}
	h, s := keyAttributes(t, key)
	return q.KeyCondition.For(h, s)
}

func checkScan(t *schema.Table, q *api.Scan) error { return nil }
