// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRate is the greatest rate. A higher one is a typing error.
const maxRate = 1e9

const rateHint = "a rate is a number by s, min, h or day: 500/s, 2.5k/s, 5 per sec, 1,000/min"

// units holds the seconds of each unit of time.
var units = map[string]float64{
	"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3,
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
	"h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
	"d": 86400, "day": 86400, "days": 86400,
	"w": 7 * 86400, "wk": 7 * 86400, "week": 7 * 86400, "weeks": 7 * 86400,
	"mo": 365.25 / 12 * 86400, "month": 365.25 / 12 * 86400, "months": 365.25 / 12 * 86400,
	"y": 365.25 * 86400, "yr": 365.25 * 86400, "year": 365.25 * 86400, "years": 365.25 * 86400,
}

// abbreviations holds words that mean requests per unit, and adverbs, with their seconds.
var abbreviations = map[string]float64{
	"rps": 1, "qps": 1, "tps": 1, "wps": 1, "hz": 1, "khz": 1e-3, "rpm": 60, "qpm": 60, "tpm": 60, "rph": 3600, "rpd": 86400,
	"secondly": 1, "minutely": 60, "hourly": 3600, "daily": 86400, "weekly": 7 * 86400, "monthly": 365.25 / 12 * 86400, "yearly": 365.25 * 86400,
}

var scales = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6, "g": 1e9, "billion": 1e9}

var words = map[string]float64{
	"once": 1, "twice": 2, "thrice": 3, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"a hundred": 100, "hundred": 100, "a thousand": 1000, "thousand": 1000, "a million": 1e6, "million": 1e6,
}

// nouns matches what the rate counts: the statement itself.
const nouns = `requests?|reqs?|r|quer(?:y|ies)|q|reads?|lookups?|writes?|w|ops|operations?|calls?|times?|x|×|inserts?|upserts?|puts?|gets?|updates?|deletes?|selects?|scans?|statements?|executions?|hits?|tx|txns?|transactions?|events?|messages?|msgs?|records?|items?`

const digits = `[0-9]+(?:[,._'\x{00a0}\x{2009}\x{202f}][0-9]+|\x20[0-9]{3}\b)*(?:[eE][+-]?[0-9]+)?|\.[0-9]+`

// rateForm finds rates. Its groups are: a number, its scale, the number of units, the unit; or a
// number, its scale, an abbreviation; or a word and its unit.
var rateForm = regexp.MustCompile(`(?i)` +
	`(` + digits + `)\s*(?:(k|m|g|thousand|million|mio|billion)\b)?\s*(?:(?:` + nouns + `)\b\.?\s*){0,2}(?:/|per\b|an?\b|each\b|every\b)\s*(?:the\s+)?((?:` + digits + `))?\s*([\pL]+)` +
	`|(` + digits + `)\s*(k|m|g|thousand|million)?\s*(rps|qps|tps|wps|k?hz|rpm|qpm|tpm|rph|rpd)\b` +
	`|\b(once|twice|thrice|one|two|three|four|five|six|seven|eight|nine|ten|a hundred|hundred|a thousand|thousand|a million|million)\s+(?:(?:` + nouns + `)\b\s*)?(?:/|per\b|an?\b|each\b|every\b)\s*((?:` + digits + `))?\s*([\pL]+)` +
	`|\b(every)\s+((?:` + digits + `))?\s*([\pL]+)` +
	`|\b(secondly|minutely|hourly|daily|weekly|monthly|yearly)\b`)

// rangeBefore matches text before a rate that makes it a range. eachAfter matches text after a rate
// that makes it a rate of each of several things.
var (
	rangeBefore = regexp.MustCompile(`(?i)[0-9]\s*[km]?\s*(?:-|–|—|\.\.+|…|\bto\b|\bor\b)\s*$`)
	eachAfter   = regexp.MustCompile(`(?i)^\s*(?:/|\bper\b|\beach\b|\bfor (?:each|every)\b)\s*[\pL]*`)
)

// rangeBytes is how far before a rate the beginning of its range may be. findRates looks at most at
// mostRates rates, and at the first commentBytes of a comment.
const (
	rangeBytes   = 32
	mostRates    = 3
	commentBytes = 1000
)

// rate is a rate that was found in a text.
type rate struct {
	from, to  int // in bytes
	perSecond float64
	reason    string // why it cannot be read; "": it can
}

// findRates finds what looks like a rate in a text; only in its beginning if the text is long.
func findRates(text string) (list []rate) {
	for len(text) > commentBytes {
		end := commentBytes
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	for at := 0; at < len(text) && len(list) < mostRates; {
		m := rateForm.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[at+m[2*i] : at+m[2*i+1]]
		}
		r := rate{from: at + m[0], to: at + m[1]}
		next := r.to
		if partOfWord(text, r.from) {
			at += m[0] + 1
			for at < len(text) && !utf8.RuneStart(text[at]) {
				at++
			}
			continue
		}
		whole := text[r.from:r.to]
		switch {
		case m[2] >= 0:
			r.read(whole, group(1), group(2), group(3), group(4))
		case m[10] >= 0:
			r.read(whole, group(5), group(6), "", "")
			r.perSecond /= abbreviations[strings.ToLower(group(7))]
		case m[16] >= 0:
			r.read(whole, fmt.Sprint(words[strings.ToLower(group(8))]), "", group(9), group(10))
		case m[22] >= 0:
			r.read(whole, "1", "", group(12), group(13))
		default:
			r.perSecond = 1 / abbreviations[strings.ToLower(group(14))]
		}
		switch {
		case r.reason != "":
		case rangeBefore.MatchString(text[max(0, r.from-rangeBytes):r.from]):
			r.reason = fmt.Sprintf("%.40q is the end of a range: give the one rate that the table has to bear", whole)
		case eachAfter.MatchString(text[r.to:]):
			each := eachAfter.FindString(text[r.to:])
			r.reason = fmt.Sprintf("%.60q is a rate of each: give that of all together", whole+each)
		case r.perSecond == 0:
			r.reason = "a rate of 0 is no query"
		case !(r.perSecond > 0) || r.perSecond > maxRate:
			r.reason = fmt.Sprintf("%.40q is more than a thousand million a second", whole)
		}
		list, at = append(list, r), next
	}
	return list
}

// partOfWord reports whether a text continues a word that begins before at: the 1 of c1/s, of a/1/b
// and of 2024-01-1.
func partOfWord(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	if at == 0 {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/' || r == '$' || r == ':' && at > 1 && text[at-2] != ' ' && unicode.IsDigit(rune(text[at-2]))
}

// read reads the parts of a rate.
func (r *rate) read(whole, number, scale, many, unit string) {
	n, err := parseNumber(number)
	if err != "" {
		r.reason = fmt.Sprintf("%.40q is no rate: %s", whole, err)
		return
	}
	if scale != "" {
		n *= scales[strings.ToLower(scale)]
	}
	r.perSecond = n
	if unit == "" {
		return
	}
	seconds, known := units[strings.ToLower(unit)]
	if !known {
		r.reason = fmt.Sprintf("%.40q is no rate: there is no unit %.20q", whole, unit)
		return
	}
	if many != "" {
		k, err := parseNumber(many)
		if err == "" && k == 0 {
			err = "by 0 of a unit"
		}
		if err != "" {
			r.reason = fmt.Sprintf("%.40q is no rate: %s", whole, err)
			return
		}
		seconds *= k
	}
	r.perSecond = n / seconds
}

var (
	thousands   = regexp.MustCompile(`^[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$`)
	thousandsDE = regexp.MustCompile(`^[1-9][0-9]{0,2}(\.[0-9]{3}){2,}(,[0-9]+)?$|^[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+$`)
	decimalDE   = regexp.MustCompile(`^[0-9]+,[0-9]+$`)
	eitherWay   = regexp.MustCompile(`^[1-9][0-9]{0,2}\.000$`)
)

// parseNumber reads a number, with or without signs between the thousands, and with a decimal point
// or comma. reason says why it is no number; "": it is one.
func parseNumber(text string) (n float64, reason string) {
	plain := strings.NewReplacer("_", "", "'", "", " ", "", "\u00a0", "", "\u2009", "", "\u202f", "").Replace(text)
	mantissa, exponent := plain, ""
	if i := strings.IndexAny(plain, "eE"); i > 0 {
		mantissa, exponent = plain[:i], plain[i:]
	}
	switch {
	case eitherWay.MatchString(mantissa):
		whole := strings.TrimSuffix(mantissa, ".000")
		return 0, fmt.Sprintf("%s may be %s or %s,000: write one of these", mantissa, whole, whole)
	case thousands.MatchString(mantissa):
		mantissa = strings.ReplaceAll(mantissa, ",", "")
	case thousandsDE.MatchString(mantissa):
		mantissa = strings.ReplaceAll(strings.ReplaceAll(mantissa, ".", ""), ",", ".")
	case decimalDE.MatchString(mantissa):
		mantissa = strings.Replace(mantissa, ",", ".", 1)
	}
	n, err := strconv.ParseFloat(mantissa+exponent, 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, fmt.Sprintf("%.20q is no number", text)
	}
	return n, ""
}

// commentRate reads the rate in the comment after a statement. If the comment has other words, it
// must have exactly one rate.
func commentRate(comment string) (perSecond float64, reason string) {
	text := comment
	if i := innerComment(text); i >= 0 { // a remark on the rate
		text = text[:i]
	}
	list := findRates(text)
	switch {
	case len(list) == 0:
		return 0, fmt.Sprintf("%.40q is no rate", strings.TrimSpace(text))
	case list[0].reason != "":
		return 0, list[0].reason
	case len(list) > 1:
		return 0, fmt.Sprintf("%.40q and %.40q are two rates: give the one that the table has to bear", text[list[0].from:list[0].to], text[list[1].from:list[1].to])
	}
	return list[0].perSecond, ""
}

// innerComment returns the place at which a comment within a comment begins; -1: there is none.
func innerComment(text string) int {
	first := -1
	for _, mark := range []string{"--", "#", "//"} {
		if i := strings.Index(text, mark); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// bareForm matches a number without a unit of time.
var bareForm = regexp.MustCompile(`(?i)^(-?(?:` + digits + `))\s*(k|m|g|thousand|million|mio|billion)?$`)

// ParseRate reads a rate, per second: 500/s, 5 per sec, 2.5k/s, 3/min. A number alone is per
// second. The error says what was found, and what is needed.
func ParseRate(text string) (perSecond float64, err error) {
	trimmed := strings.TrimSpace(text)
	reason := fmt.Sprintf("%.40q is no rate", text)
	if m := bareForm.FindStringSubmatch(trimmed); m != nil {
		number, negative := strings.CutPrefix(m[1], "-")
		n, wrong := parseNumber(number)
		if wrong == "" {
			if m[2] != "" {
				n *= scales[strings.ToLower(m[2])]
			}
			if negative {
				n = -n
			}
			return n, nil
		}
		reason = wrong
	} else if list := findRates(trimmed); len(list) > 0 {
		switch r := list[0]; {
		case r.reason != "":
			reason = r.reason
		case len(list) == 1 && r.from == 0 && r.to == len(trimmed):
			return r.perSecond, nil
		}
	}
	return 0, fmt.Errorf("%s; %s", reason, rateHint)
}
