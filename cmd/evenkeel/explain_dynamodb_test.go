// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// TestAskedOf parses the argument of explain. Any white space may end its first word.
func TestAskedOf(t *testing.T) {
	for _, c := range []struct {
		text      string
		statement bool
	}{
		{`Query {"TableName":"Logs","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`, false},
		{"Query\n{\"TableName\":\"Logs\",\"KeyConditionExpression\":\"h = :h\",\"ExpressionAttributeValues\":{\":h\":{\"S\":\"a\"}}}", false},
		{`SELECT * FROM "Logs" WHERE h = 'a'`, true},
		{"SELECT\n\t* FROM \"Logs\"\nWHERE h = 'a'", true},
		{`ExecuteStatement {"Statement":"SELECT * FROM \"Logs\" WHERE h = ?","Parameters":[{"S":"a"}]}`, true},
	} {
		q, table, err := askedOf(c.text)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.text, err)
		case table != "Logs" || (q.Statement != nil) != c.statement:
			t.Errorf("%s: table %q, %+v", c.text, table, q)
		}
	}
	for _, text := range []string{"", "Query", "Query {", "SELEC * FROM t"} {
		if _, _, err := askedOf(text); err == nil {
			t.Errorf("%q is explained", text)
		}
	}
}
