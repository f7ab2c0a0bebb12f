// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Shard rules apply to tables whose CreateTable declares no sharding. They are one item beside the
// entries, under a name that no table has, so that all doors use the same rules.

// rulesKey contains a slash, like the names of streams, so that readers of entries skip it.
const rulesKey = "/shard-rules"

// Rules are shard rules as the store has them.
type Rules struct {
	Text string // encoded by package shardrules
	Door string // the door that wrote them
}

type rulesItem struct {
	Table text `json:"table"`
	Rules text `json:"rules"`
	Door  text `json:"door"`
}

// Rules reads the shard rules. It returns nil if there are none.
func (c *Catalog) Rules(ctx context.Context) (*Rules, error) {
	var found struct{ Item *rulesItem }
	err := c.call(ctx, "GetItem", map[string]any{"TableName": Table, "ConsistentRead": true, "Key": map[string]any{"table": text{rulesKey}}}, &found)
	if is(err, exception.ResourceNotFound) {
		return nil, nil
	}
	if err != nil || found.Item == nil {
		return nil, err
	}
	return &Rules{found.Item.Rules.S, found.Item.Door.S}, nil
}

// KeepRules replaces old, the rules that the caller read, by next. old is nil if there were none.
// It returns false if another door has written rules since.
func (c *Catalog) KeepRules(ctx context.Context, old, next *Rules) (bool, error) {
	request := map[string]any{"TableName": Table, "Item": rulesItem{text{rulesKey}, text{next.Text}, text{next.Door}}}
	if old == nil {
		request["ConditionExpression"] = "attribute_not_exists(#t)"
		request["ExpressionAttributeNames"] = map[string]string{"#t": "table"}
	} else {
		request["ConditionExpression"] = "#r = :r"
		request["ExpressionAttributeNames"] = map[string]string{"#r": "rules"}
		request["ExpressionAttributeValues"] = map[string]any{":r": text{old.Text}}
	}
	for attempt := 0; ; attempt++ {
		err := c.call(ctx, "PutItem", request, nil)
		switch {
		case err == nil:
			return true, nil
		case is(err, exception.ConditionalCheckFailed):
			return false, nil
		case !is(err, exception.ResourceNotFound) || attempt > 0:
			return false, err
		}
		if err := c.create(ctx); err != nil {
			return false, err
		}
	}
}
