// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// These are the lengths of the longest names. Cassandra's limit of a table's name is that of the
// directory in which it keeps the table's files.
const (
	longestKeyspace    = 48
	longestTable       = 222
	longestInKeyspaces = 48
	longestInDynamoDB  = 255 // of indexes, too
)

var (
	wordName  = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	tableOfDB = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// BadName is the error for a name of a table or keyspace that the store refuses.
type BadName struct {
	What, Name string
	Line       int // of the queries; 0: the name is from elsewhere
	Why        string
}

func (e *BadName) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	return fmt.Sprintf("%sno %s has the name %q: %s; --table NAME gives the table another name in the statements printed", where, e.What, e.Name, e.Why)
}

// checkTable returns an error if the store refuses the name of the table that is advised.
func (s *facts) checkTable() error {
	line := 0
	if s.o.Table == "" {
		for i := range s.qs {
			if s.qs[i].Table != "" {
				line = s.qs[i].Line
				break
			}
		}
	}
	keyspace, table, two := strings.Cut(s.table(), ".")
	if !two {
		keyspace, table = "", keyspace
	}
	bad := func(what, name, why string) error { return &BadName{what, name, line, why} }
	if s.o.Target == DynamoDB {
		switch {
		case !tableOfDB.MatchString(table):
			return bad("table of DynamoDB", table, "it has letters from a to z, digits, _, - and . only")
		case len(table) > longestInDynamoDB:
			return bad("table of DynamoDB", table, fmt.Sprintf("it has at most %d characters", longestInDynamoDB))
		}
		return nil
	}
	const words = "it has letters from a to z, digits and _ only"
	switch {
	case two && !wordName.MatchString(keyspace):
		return bad("keyspace", keyspace, words)
	case len(keyspace) > longestKeyspace:
		return bad("keyspace", keyspace, fmt.Sprintf("it has at most %d characters", longestKeyspace))
	case !wordName.MatchString(table):
		return bad("table", table, words)
	case len(table) > s.longest():
		return bad("table", table, fmt.Sprintf("it has at most %d characters", s.longest()))
	}
	return nil
}

// longest returns the length of the longest name of a table of CQL.
func (s *facts) longest() int {
	if s.o.Target == Keyspaces {
		return longestInKeyspaces
	}
	return longestTable
}

// shortened returns a name of at most that many characters. If it is cut, a hash of the whole tells
// it from other names.
func shortened(name string, most int) string {
	if len(name) <= most {
		return name
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	end := fmt.Sprintf("_%08x", h.Sum32())
	return name[:most-len(end)] + end
}
