// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Target is a server to which statements are sent.
type Target struct {
	Name               string
	Addr               string
	Username, Password string

	// Sharding is the write_sharding property that every CREATE TABLE with clustering columns gets,
	// such as "{'shards': '3'}"; "": plain tables.
	Sharding string
	Shards   int // the property's number of shards; 0: the hidden column has other numbers

	// Refuses lists the ids of refusals that the target also gives for plain tables.
	Refuses []string

	// Backend is the address of the store behind the door, if the test can read the physical tables
	// there; "": none.
	Backend string
}

// refuses reports whether the target is expected to give refusal id.
func (t Target) refuses(id string) bool {
	return id != "" && (t.Sharding != "" || slices.Contains(t.Refuses, id))
}

// Session is a connection to a target with its own keyspace.
type Session struct {
	Target
	*Conn
	Keyspace string
}

// openKeyspace is the name for every session's keyspace in answers.
const openKeyspace = "ks"

// Open connects, creates the keyspace and makes it the current one. Keyspaces of compared sessions
// have names of equal length, so that positions in errors agree.
func Open(t Target, keyspace string, version primitive.ProtocolVersion) (*Session, error) {
	c, err := Dial(t.Addr, version, t.Username, t.Password)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", t.Name, err)
	}
	s := &Session{Target: t, Conn: c, Keyspace: keyspace}
	for _, q := range []string{
		"CREATE KEYSPACE IF NOT EXISTS " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"USE " + keyspace,
	} {
		if err := s.must(q); err != nil {
			c.Close()
			return nil, err
		}
	}
	return s, nil
}

// Drop drops the session's keyspace and closes the connection.
func (s *Session) Drop() error {
	return errors.Join(s.must("DROP KEYSPACE IF EXISTS "+s.Keyspace), s.Conn.Close())
}

func (s *Session) must(query string) error {
	a, err := s.Conn.Query(Request{Query: query})
	if err != nil {
		return fmt.Errorf("target %s: %s: %w", s.Name, query, err)
	}
	if a.Kind == Error {
		return fmt.Errorf("target %s: %s: %v", s.Name, query, a)
	}
	return nil
}

// text returns a statement for this target: with its keyspace instead of $ks, and its sharding in
// every CREATE TABLE that can have one.
func (s *Session) text(query string) string {
	query = strings.ReplaceAll(query, "$ks", s.Keyspace)
	if s.Sharding != "" && createTable.MatchString(query) && hasClustering(query) {
		return withProperty(query, "write_sharding = "+s.Sharding)
	}
	return query
}

var createTable = regexp.MustCompile(`(?is)^\s*CREATE\s+(TABLE|COLUMNFAMILY)\b`)

// primaryKey finds the beginning of a PRIMARY KEY clause.
var primaryKey = regexp.MustCompile(`(?is)\bPRIMARY\s+KEY\s*\(`)

// hasClustering reports whether a CREATE TABLE declares clustering columns. Calculated sharding is
// only for tables that have some.
func hasClustering(query string) bool {
	m := primaryKey.FindStringIndex(query)
	if m == nil {
		return false
	}
	depth := 1
	for _, r := range query[m[1]:] {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 1 {
				return true
			}
		}
		if depth == 0 {
			break
		}
	}
	return false
}

var with = regexp.MustCompile(`(?is)\bWITH\b`)

// withProperty adds a property to a CREATE TABLE.
func withProperty(query, property string) string {
	query = strings.TrimRight(strings.TrimSpace(query), ";")
	// Column definitions contain no WITH, so there is no need to find the last parenthesis before
	// WITH.
	if with.MatchString(query) {
		return query + " AND " + property
	}
	return query + " WITH " + property
}
