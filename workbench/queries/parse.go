// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// These are bounds of a file of queries. A larger file is probably another file.
const (
	maxText    = 4 << 20
	maxQueries = 10_000
)

// Parse reads a text of queries. The error is a *SyntaxError.
func Parse(text string) ([]Query, error) {
	if len(text) > maxText {
		return nil, &SyntaxError{Line: 1, At: 1, Reason: fmt.Sprintf("the queries have more than %d MB", maxText>>20), Hint: "is it the right file? It has a statement a line"}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		number := 1
		for line := range strings.SplitSeq(text, "\n") {
			if !utf8.ValidString(line) {
				break
			}
			number++
		}
		return nil, &SyntaxError{Line: number, At: 1, Reason: "is not UTF-8", Hint: "iconv -f ISO-8859-1 -t UTF-8, if that is what it is"}
	}
	list, bad := statements(text)
	if bad != nil {
		return nil, bad
	}
	tooMany := func(s *statement) error {
		return &SyntaxError{Line: s.lines[0].number, At: 1, Reason: fmt.Sprintf("more than %d queries", maxQueries), Hint: "give each kind of query once, with its rate"}
	}
	if len(list) > maxQueries {
		return nil, tooMany(list[maxQueries])
	}
	readings := make([]reading, len(list))
	dynamo, cql := 0, 0
	for i, s := range list {
		r := s.read()
		if r.err != nil {
			r.err.Line, r.err.At = s.at(r.err.offset)
			return nil, r.err
		}
		switch {
		case r.cql == nil:
			dynamo++
		case r.partiql == nil:
			cql++
		}
		readings[i] = r
	}
	var out []Query
	for i, s := range list {
		// A statement that may be either is read as what the others are.
		qs := readings[i].cql
		if qs == nil || readings[i].partiql != nil && dynamo > 0 && cql == 0 {
			qs = readings[i].partiql
		}
		for _, q := range qs {
			q.Line, q.Rate, q.source = s.lines[0].number, s.rate, s
			if q.Text == "" {
				q.Text = strings.TrimRight(s.text, "; \t")
			}
			if out = append(out, q); len(out) > maxQueries {
				return nil, tooMany(s)
			}
		}
	}
	if len(out) == 0 {
		return nil, &SyntaxError{Line: 1, At: 1, Reason: "there are no queries", Hint: "a statement a line, its rate behind it: SELECT * FROM t WHERE code = ? -- 500/s"}
	}
	return out, nil
}

// reading holds the readings of a statement: as CQL, and as DynamoDB's PartiQL or an operation.
type reading struct {
	cql, partiql []Query
	err          *SyntaxError // if it is neither
}

const statementHint = "a statement of CQL or of DynamoDB's PartiQL, such as SELECT * FROM t WHERE code = ? -- 500/s; or a DynamoDB expression"

func (s *statement) read() (r reading) {
	text := strings.TrimRight(s.text, "; \t")
	if text == "" {
		return reading{err: &SyntaxError{Reason: "a semicolon without a statement", Hint: "the statement stands before it"}}
	}
	if !isStatement(text) {
		r.partiql, r.err = parseDynamo(text)
		return r
	}
	cql, cqlErr := parseCQL(text)
	q, partiqlErr := parsePartiQL(text)
	if cqlErr == nil {
		r.cql = cql
	}
	if partiqlErr == nil {
		r.partiql = []Query{q}
	}
	if cqlErr != nil && partiqlErr != nil {
		// Report the error of the reading that understood more of the text.
		if r.err = cqlErr; partiqlErr.offset > cqlErr.offset || inPartiQL.MatchString(text) {
			r.err = partiqlErr
		}
	}
	return r
}

var (
	statementBegins = regexp.MustCompile(`(?i)^(SELECT|INSERT|UPDATE|DELETE|EXISTS\s*\(|FROM|BEGIN|CREATE|ALTER|DROP|TRUNCATE|USE|GRANT|REVOKE|LIST|DESCRIBE|DESC|WITH|MERGE)\b`)
	// statementWords matches words that are in no DynamoDB expression, except SET in an UpdateItem.
	statementWords = regexp.MustCompile(`(?i)\b(FROM|INTO|WHERE|VALUES)\b`)
	// inPartiQL matches what only PartiQL has.
	inPartiQL = regexp.MustCompile(`(?i)\bVALUE\s*\{|\bIN\s*\[|\bbegins_with\s*\(|\battribute_(not_)?exists\s*\(|\bIS\s+(NOT\s+)?MISSING\b`)
)

// isStatement reports whether a text is a statement rather than an expression. A misspelt SELECT is
// a statement, too.
func isStatement(text string) bool {
	if statementBegins.MatchString(text) {
		return !compared.MatchString(text) // an attribute whose name is a verb
	}
	_, known := operations[strings.ToLower(firstWord(text))]
	return !known && statementWords.MatchString(text)
}
