// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// These are the most characters that a name may have. Cassandra limits a table's name because the
// name is part of a directory's name.
const (
	longestKeyspace       = 48
	longestCassandraTable = 222
	longestKeyspacesTable = 48
	longestDynamoDBName   = 255 // of a table, and of an index
)

var (
	cqlName    = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	dynamoName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// BadName is the error for a name that the store does not allow for a table or keyspace.
type BadName struct {
	What      string // what has the name: "table", "keyspace", "table of DynamoDB"
	Name      string
	QueryLine int    // the line in the file of queries that has the name; 0: no query has it
	Why       string // the rule that the name breaks
}

func (e *BadName) Error() string {
	where := ""
	if e.QueryLine > 0 {
		where = fmt.Sprintf("line %d: ", e.QueryLine)
	}
	return fmt.Sprintf("%sno %s has the name %q: %s; --table NAME gives the table another name in the statements printed", where, e.What, e.Name, e.Why)
}

// checkTable returns a *BadName if the store does not allow the name of the table that is advised.
func (s *facts) checkTable() error {
	bad := s.o.Target.badName(s.nameInStore())
	if bad == nil {
		return nil
	}
	if q := s.namer(); q != nil {
		bad.QueryLine = q.Line
	}
	return bad
}

// badName returns the rule that a table's name breaks, without a line; nil: the store allows the
// name. In CQL the name may begin with a keyspace and a dot.
func (t Target) badName(name string) *BadName {
	const (
		cqlWords    = "it has letters from a to z, digits and _ only"
		dynamoWords = "it has letters from a to z, digits, _, - and . only"
	)
	tooLong := func(most int) string { return fmt.Sprintf("it has at most %d characters", most) }
	keyspace, table, two := strings.Cut(name, ".")
	if !two || t == DynamoDB {
		keyspace, table = "", name
	}
	switch {
	case t == DynamoDB && !dynamoName.MatchString(table):
		return &BadName{What: "table of DynamoDB", Name: table, Why: dynamoWords}
	case t == DynamoDB && len(table) > longestDynamoDBName:
		return &BadName{What: "table of DynamoDB", Name: table, Why: tooLong(longestDynamoDBName)}
	case t == DynamoDB:
		return nil
	case two && !cqlName.MatchString(keyspace):
		return &BadName{What: "keyspace", Name: keyspace, Why: cqlWords}
	case len(keyspace) > longestKeyspace:
		return &BadName{What: "keyspace", Name: keyspace, Why: tooLong(longestKeyspace)}
	case !cqlName.MatchString(table):
		return &BadName{What: "table", Name: table, Why: cqlWords}
	case len(table) > t.longestTable():
		return &BadName{What: "table", Name: table, Why: tooLong(t.longestTable())}
	}
	return nil
}

// longestTable returns the most characters that a table's name may have in CQL.
func (t Target) longestTable() int {
	if t == Keyspaces {
		return longestKeyspacesTable
	}
	return longestCassandraTable
}

// shortened returns a name of at most so many characters: the name itself, or its beginning and a hash
// of all of it. The hash tells two long names with the same beginning apart.
func shortened(name string, most int) string {
	if len(name) <= most {
		return name
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	end := fmt.Sprintf("_%08x", h.Sum32())
	return name[:most-len(end)] + end
}
