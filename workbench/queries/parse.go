package queries

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a file of queries; what is more is some other file.
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
	var out []Query
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if !utf8.ValidString(line) {
			return nil, &SyntaxError{Line: i + 1, At: 1, Reason: "is not UTF-8", Hint: "iconv -f ISO-8859-1 -t UTF-8, if that is what it is"}
		}
		qs, err := parseLine(line)
		if err != nil {
			err.Line = i + 1
			return nil, err
		}
		for j := range qs {
			qs[j].Line = i + 1
		}
		if out = append(out, qs...); len(out) > maxQueries {
			return nil, &SyntaxError{Line: i + 1, At: 1, Reason: fmt.Sprintf("more than %d queries", maxQueries), Hint: "give each kind of query once, with its rate"}
		}
	}
	if len(out) == 0 {
		return nil, &SyntaxError{Line: 1, At: 1, Reason: "there are no queries", Hint: "a statement a line, its rate behind it: SELECT * FROM t WHERE code = ? -- 500/s"}
	}
	return out, nil
}

// parseLine reads one line: nothing, or one statement, or those of a batch.
func parseLine(line string) ([]Query, *SyntaxError) {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "--") {
		return nil, nil
	}
	statement, comment, at := cut(line)
	rate := 0.0
	if strings.TrimSpace(comment) != "" {
		r, reason := parseRate(comment)
		if reason != "" {
			lead := len([]rune(comment)) - len([]rune(strings.TrimLeft(comment, " \t")))
			return nil, &SyntaxError{At: at + 2 + lead, Reason: reason, Hint: "a rate is a number by s, min, h or day: -- 500/s, -- 2.5k/s, -- 1,000/min; comments stand on lines of their own"}
		}
		rate = r
	}
	trimmed = strings.TrimRight(strings.TrimSpace(statement), "; \t")
	lead := len([]rune(statement)) - len([]rune(strings.TrimLeft(statement, " \t")))
	if trimmed == "" {
		return nil, &SyntaxError{At: 1, Reason: "a rate without a statement", Hint: "the statement stands before it, on the same line"}
	}
	var (
		qs  []Query
		err *SyntaxError
	)
	if isCQL(trimmed) {
		qs, err = parseCQL(trimmed)
	} else {
		qs, err = parseDynamo(trimmed)
	}
	if err != nil {
		err.At += lead
		return nil, err
	}
	for i := range qs {
		qs[i].Rate, qs[i].source = rate, line
		if qs[i].Text == "" {
			qs[i].Text = trimmed
		}
	}
	return qs, nil
}

// cut parts a line at the -- that is in no quotes; at is where that stands, in
// characters from 1.
func cut(line string) (statement, comment string, at int) {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '-' && strings.HasPrefix(line[i:], "--"):
			return line[:i], line[i+2:], utf8.RuneCountInString(line[:i]) + 1
		}
	}
	return line, "", 0
}

var rateForm = regexp.MustCompile(`^([0-9][0-9,_]*(?:\.[0-9]+)?|\.[0-9]+)\s*([kKmM])?\s*(?:/|per\s+)\s*([A-Za-z]+)\s*(?:(?:#|--).*)?$`)

var units = map[string]float64{
	"s": 1, "sec": 1, "second": 1, "seconds": 1,
	"m": 60, "min": 60, "minute": 60, "minutes": 60,
	"h": 3600, "hour": 3600, "hours": 3600,
	"d": 86400, "day": 86400, "days": 86400,
}

// maxRate is a slip of the keyboard's.
const maxRate = 1e9

func parseRate(comment string) (rate float64, reason string) {
	text := strings.TrimSpace(comment)
	m := rateForm.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Sprintf("%.40q is no rate", text)
	}
	n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(m[1]), 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, fmt.Sprintf("%.40q is no rate: %.20q is no number", text, m[1])
	}
	switch m[2] {
	case "k", "K":
		n *= 1e3
	case "m", "M":
		n *= 1e6
	}
	seconds, known := units[strings.ToLower(m[3])]
	switch {
	case !known:
		return 0, fmt.Sprintf("%.40q is no rate: there is no unit %q", text, m[3])
	case n == 0:
		return 0, "a rate of 0 is no query"
	case n/seconds > maxRate:
		return 0, fmt.Sprintf("%.40q is more than a thousand million a second", text)
	}
	return n / seconds, ""
}
