// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Limits that need a table; dynamo/api tests the others. A request at a limit passes. One beyond it
// is refused in AWS's words, which are from its documentation and from recorded answers. Nobody has
// recorded those for the size of a transaction.
func TestLimits(t *testing.T) {
	const both = `"AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST"`
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab",`+both+`}`)
	s.must(t, "CreateTable", `{"TableName":"Idx",`+strings.Replace(both, `}],"KeySchema"`, `},{"AttributeName":"g","AttributeType":"S"}],"KeySchema"`, 1)+
		`,"GlobalSecondaryIndexes":[{"IndexName":"by-g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`)
	x := func(n int) string { return strings.Repeat("x", n) }
	large := func(i, n int) string {
		return fmt.Sprintf(`{"k":{"S":"k%02d"},"r":{"S":"r"},"v":{"S":"%s"}}`, i, x(n-7))
	}
	for i := range 16 {
		s.must(t, "PutItem", `{"TableName":"Tab","Item":`+large(i, 256<<10)+`}`)
	}
	one := func(i int) string { return fmt.Sprintf(`{"k":{"S":"k%02d"},"r":{"S":"r"}}`, i) }
	all := func(n int, action func(i int) string) string {
		var parts []string
		for i := range n {
			parts = append(parts, action(i))
		}
		return `{"TransactItems":[` + strings.Join(parts, ",") + `]}`
	}
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"k16"},"r":{"S":"r"}}}`)
	const hash = "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
	const sort = "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
	for _, c := range []struct {
		what     string
		most     int
		op       string
		body     func(n int) string
		refused  string
		canceled bool // the error is the reason of a cancelled transaction
	}{
		{"bytes of a partition key", 2048, "PutItem", func(n int) string {
			return `{"TableName":"Tab","Item":{"k":{"S":"` + x(n) + `"},"r":{"S":"r"}}}`
		}, hash, false},
		{"bytes of a sort key", 1024, "PutItem", func(n int) string {
			return `{"TableName":"Tab","Item":{"k":{"S":"k"},"r":{"S":"` + x(n) + `"}}}`
		}, sort, false},
		{"bytes of a partition key to get", 2048, "GetItem", func(n int) string {
			return `{"TableName":"Tab","Key":{"k":{"S":"` + x(n) + `"},"r":{"S":"r"}}}`
		}, hash, false},
		{"bytes of a sort key to get", 1024, "GetItem", func(n int) string {
			return `{"TableName":"Tab","Key":{"k":{"S":"k"},"r":{"S":"` + x(n) + `"}}}`
		}, sort, false},
		{"bytes of a key of an index", 2048, "PutItem", func(n int) string {
			return `{"TableName":"Idx","Item":{"k":{"S":"k"},"r":{"S":"r"},"g":{"S":"` + x(n) + `"}}}`
		}, hash, false},
		{"levels of an attribute", 32, "PutItem", func(n int) string {
			return `{"TableName":"Tab","Item":{"k":{"S":"k"},"r":{"S":"r"},"v":` + strings.Repeat(`{"L":[`, n-1) + `{"S":"x"}` + strings.Repeat(`]}`, n-1) + `}}`
		}, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit", false},
		{"levels of an attribute in a transaction", 32, "TransactWriteItems", func(n int) string {
			return `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"k":{"S":"k"},"r":{"S":"r"},"v":` + strings.Repeat(`{"L":[`, n-1) + `{"S":"x"}` + strings.Repeat(`]}`, n-1) + `}}}]}`
		}, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit", false},
		{"bytes of an item that an update makes", 400 << 10, "UpdateItem", func(n int) string {
			return `{"TableName":"Tab","Key":{"k":{"S":"u"},"r":{"S":"r"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"` + x(n-5) + `"}}}`
		}, "Item size to update has exceeded the maximum allowed size", false},
		{"bytes of an item that a transaction's update makes", 400 << 10, "TransactWriteItems", func(n int) string {
			return `{"TransactItems":[{"Update":{"TableName":"Tab","Key":{"k":{"S":"u"},"r":{"S":"r"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"` + x(n-5) + `"}}}}]}`
		}, "Item size to update has exceeded the maximum allowed size", true},
		{"items of 256 KB that a transaction gets", 16, "TransactGetItems", func(n int) string {
			return all(n, func(i int) string { return `{"Get":{"TableName":"Tab","Key":` + one(i) + `}}` })
		}, "Transaction payload size cannot exceed 4MB. Payload Size: : Transaction payload size cannot exceed 4MB. Payload Size: 4194310", false},
		{"items of 256 KB that a transaction updates", 16, "TransactWriteItems", func(n int) string {
			return all(n, func(i int) string {
				return `{"Update":{"TableName":"Tab","Key":` + one(i) + `,"UpdateExpression":"SET v = if_not_exists(v, :v)","ExpressionAttributeValues":{":v":{"S":""}}}}`
			})
		}, "Transaction payload size cannot exceed 4MB. Payload Size: : Transaction payload size cannot exceed 4MB. Payload Size: 4194311", false},
		{"tags", 50, "TagResource", func(n int) string {
			var tags []string
			for i := range n {
				tags = append(tags, fmt.Sprintf(`{"Key":"%d","Value":""}`, i))
			}
			return `{"ResourceArn":"` + s.arn(t, "Tab") + `","Tags":[` + strings.Join(tags, ",") + `]}`
		}, "Number of Tags exceed the current limit for the provided ResourceArn", false},
	} {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			s.must(t, c.op, c.body(c.most))
			kind := exception.Validation
			if c.canceled {
				kind = exception.TransactionCanceled
			}
			e := s.fails(t, kind, c.op, c.body(c.most+1))
			says := e.Message
			if c.canceled && len(e.Reasons) > 0 {
				says = e.Reasons[0].Message
			}
			if says != c.refused {
				t.Errorf("%d:\n got %s\nwant %s", c.most+1, says, c.refused)
			}
		})
	}
}

// arn returns the ARN of a table.
func (o *opened) arn(t *testing.T, table string) string {
	t.Helper()
	return dig(o.must(t, "DescribeTable", `{"TableName":"`+table+`"}`), "Table", "TableArn").(string)
}
