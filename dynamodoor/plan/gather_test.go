// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// TestAPageOutlivesAGatheredAnswer checks that a page that goes on in another answer keeps nothing of
// the memory of the first, which the store uses again.
func TestAPageOutlivesAGatheredAnswer(t *testing.T) {
	s := newStore(t)
	s.create(t, "Tab", attribute.S, 3)
	q := new(api.Query)
	if err := q.Decode(new(api.Decoder), []byte(`{"TableName":"Tab","KeyConditionExpression":"pk = :k","ExpressionAttributeValues":{":k":{"S":"k"}}}`)); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(q, func(name string) *plan.Table { return s.tables[name] })
	if err != nil {
		t.Fatal(err)
	}
	f := p.(*plan.Fanout)
	if !f.Gathers() {
		t.Fatal("the Query cannot be gathered")
	}
	page := f.Result()
	for _, sort := range []string{"a", "b"} {
		text := []byte(`{"evenkeel.pk":{"S":"k-1"},"pk":{"S":"k"},"sk":{"S":"` + sort + `"}}`)
		after, err := page.AddGathered(&api.Gathered{Items: []attribute.Encoded{text}, Sizes: []int{30}, More: true})
		if err != nil {
			t.Fatal(err)
		}
		clear(text)
		if got := after.Sort.Text(); got != sort {
			t.Errorf("the page goes on after %q, not %q", got, sort)
		}
	}
	const want = `{"Items":[{"pk":{"S":"k"},"sk":{"S":"a"}},{"pk":{"S":"k"},"sk":{"S":"b"}}],"Count":2,"ScannedCount":2}`
	if got := string(page.Answer().AppendJSON(nil)); got != want {
		t.Errorf("%s, not %s", strings.ToValidUTF8(got, "?"), want)
	}
}
