// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
)

// forgetful is a store whose answers' memory is reused at once, like that of a real endpoint's
// answers.
type forgetful struct{ Backend }

func (f forgetful) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	request := q.AppendJSON(nil)
	answer, err := f.Do(ctx, q.Operation(), request, nil)
	if err != nil {
		return err
	}
	r, err := q.(api.Answered).DecodeResponse(new(api.Decoder), answer)
	if err != nil {
		return fmt.Errorf("%s: %w", answer, err)
	}
	err = use(r)
	for i := range answer {
		answer[i] = 'x'
	}
	return err
}

var units = regexp.MustCompile(`CapacityUnits:[0-9.]+`)

// TestNothingIsKeptOfAnAnswer checks that the door's answers do not depend on the memory of the
// store's answers.
func TestNothingIsKeptOfAnAnswer(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Tab"
	indexed := strings.Replace(create(5), `"Tags":[`, `"GlobalSecondaryIndexes":[{"IndexName":"by-r","KeySchema":[{"AttributeName":"r","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"Tags":[{"Key":"write-sharding.index.by-r","Value":"shards=3"},`, 1)
	const key = `"Key":{"h":{"S":"121212"},"r":{"S":"Client0003"}}`
	const all = `"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}`
	var answers [2][]string
	for i := range answers {
		s := start(t, 1)
		var b backend.Store = s.store
		if i == 1 {
			b = forgetful{s.store.Store}
		}
		door := again(t, b, 1)
		for _, r := range [][2]string{
			{"CreateTable", indexed},
			{"DescribeTable", `{"TableName":"Tab"}`},
			{"fill", ""},
			{"UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":true}`},
			{"DeleteTable", `{"TableName":"Tab"}`},
			{"UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":false}`},
			{"Query", `{"TableName":"Tab","Limit":7,"ReturnConsumedCapacity":"INDEXES",` + all + `}`},
			{"Query", `{"TableName":"Tab","ScanIndexForward":false,"FilterExpression":"attribute_exists(x)","ProjectionExpression":"r",` + all + `}`},
			{"Query", `{"TableName":"Tab","IndexName":"by-r","KeyConditionExpression":"r = :r","ExpressionAttributeValues":{":r":{"S":"Client0003"}}}`},
			{"Scan", `{"TableName":"` + arn + `","Limit":3,"ReturnConsumedCapacity":"TOTAL"}`},
			{"GetItem", `{"TableName":"` + arn + `","ReturnConsumedCapacity":"TOTAL",` + key + `}`},
			{"UpdateItem", `{"TableName":"Tab","UpdateExpression":"SET y = r","ReturnValues":"UPDATED_NEW",` + key + `}`},
			{"BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"121212"},"r":{"S":"Client0003"}},{"h":{"S":"121212"},"r":{"S":"Client0004"}}]}},"ReturnConsumedCapacity":"TOTAL"}`},
			{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Tab",` + key + `}}]}`},
			{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"Client0003"}},"ConditionExpression":"attribute_not_exists(h)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`},
			{"ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = '121212' AND x = 'payload'","Limit":5,"ReturnConsumedCapacity":"TOTAL"}`},
			{"ExecuteStatement", `{"Statement":"UPDATE Tab SET z = 1 WHERE h = '121212' AND r = 'Client0003' RETURNING ALL NEW *"}`},
			{"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM Tab WHERE h = '121212' AND r = 'Client0003'"}],"ReturnConsumedCapacity":"TOTAL"}`},
			{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"SELECT * FROM Tab WHERE h = '121212' AND r = 'Client0003'"}]}`},
			{"ListTables", `{}`},
			{"ListTagsOfResource", `{"ResourceArn":"` + arn + `"}`},
			{"UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`},
			{"DescribeTimeToLive", `{"TableName":"Tab"}`},
			{"DeleteTable", `{"TableName":"Tab"}`},
			{"ListTables", `{}`},
		} {
			if r[0] == "fill" {
				fill(t, door, 20, "payload")
				continue
			}
			m, err := do(door, r[0], r[1])
			for _, name := range []string{"TableDescription", "Table"} {
				if d, ok := m[name].(map[string]any); ok {
					for _, own := range []string{"TableId", "CreationDateTime", "LatestStreamArn", "LatestStreamLabel", "BillingModeSummary"} {
						delete(d, own)
					}
				}
			}
			// The first shards of a page are drawn at random, and so its capacity differs.
			answers[i] = append(answers[i], units.ReplaceAllString(fmt.Sprint(r[0], " ", m, err), "CapacityUnits"))
		}
	}
	for i, want := range answers[0] {
		if got := answers[1][i]; got != want {
			t.Errorf("\n got %.900s\nwant %.900s", got, want)
		}
	}
}
