// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"strings"
	"testing"
)

// filesOf returns rows of files: who owns them, their paths and their labels.
func filesOf() string {
	var data strings.Builder
	data.WriteString("owner,path,at,label\n")
	for i := range 5000 {
		fmt.Fprintf(&data, "o%d,/a%d/b%05d,%d,l%d-%d\n", i%50, i%7, i, i, i%31, i)
	}
	return data.String()
}

// TestPrefixInFilter checks that a restriction to a prefix stays one where it is no part of the key
// condition. As a range with both bounds equal to the prefix, it would find the prefix itself alone.
func TestPrefixInFilter(t *testing.T) {
	asked := `SELECT * FROM "files" WHERE owner = ? AND begins_with("path", ?) AND begins_with("label", ?) -- 50/s
INSERT INTO "files" VALUE {'owner': ?, 'path': ?, 'at': ?, 'label': ?} -- 5/s`
	r := advisedFor(t, asked, filesOf(), Options{Target: DynamoDB})
	text := r.Verdict.Statements[0].Text
	if strings.Count(text, "begins_with(") != 2 || strings.Contains(text, "=\"") || !strings.Contains(text, `"FilterExpression":"begins_with(`) {
		t.Errorf("%s", text)
	}
}

// TestDotsInNames checks the names of tables of DynamoDB. A name with dots stays whole, unless CQL gives
// its first part as the keyspace: DynamoDB has no keyspaces.
func TestDotsInNames(t *testing.T) {
	for _, c := range []struct{ from, option, want string }{
		{`"prod.files"`, "", "prod.files"},
		{`"prod.eu.files"`, "", "prod.eu.files"},
		{"prod.files", "", "files"},
		{"files", "prod.files", "prod.files"},
	} {
		r := advisedFor(t, "SELECT * FROM "+c.from+" WHERE owner = ? -- 50/s", filesOf(), Options{Target: DynamoDB, Table: c.option})
		for _, text := range []string{string(r.Verdict.CreateTable), r.Verdict.Statements[0].Text} {
			if !strings.Contains(strings.ReplaceAll(text, " ", ""), `"TableName":"`+c.want+`"`) {
				t.Errorf("%s, --table %q: %s", c.from, c.option, text)
			}
		}
	}
}
