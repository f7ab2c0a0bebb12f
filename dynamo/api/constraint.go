// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// constraints collects what AWS's generated checks find. AWS reports the violations of all members
// together, at most ten.
type constraints struct{ messages []string }

const maxConstraints = 10

// violated adds a violation. value is the value as the message shows it, "null" or quoted. It is
// empty for AWS's newer checks, which do not show the value.
func (c *constraints) violated(value, at, constraint string) {
	if value != "" {
		value += " "
	}
	if len(c.messages) < maxConstraints {
		c.messages = append(c.messages, "Value "+value+"at '"+at+"' failed to satisfy constraint: "+constraint)
	}
}

func quoted(s string) string { return "'" + s + "'" }

func (c *constraints) err() error {
	switch len(c.messages) {
	case 0:
		return nil
	case 1:
		return exception.Invalid("1 validation error detected: %s", c.messages[0])
	}
	return exception.Invalid("%d validation errors detected: %s", len(c.messages), strings.Join(c.messages, "; "))
}

func (c *constraints) notNull(given bool, at string) {
	if !given {
		c.violated("null", at, "Member must not be null")
	}
}

// enum checks that a value, if it is given, is one of values.
func (c *constraints) enum(t text, at string, values ...string) {
	if !t.given {
		return
	}
	for _, v := range values {
		if t.value == v {
			return
		}
	}
	c.violated(quoted(t.value), at, "Member must satisfy enum value set: ["+strings.Join(values, ", ")+"]")
}

func (c *constraints) atLeast(n integer, least int64, at string) {
	if n.given && n.value < least {
		c.violated(quoted(strconv.FormatInt(n.value, 10)), at, "Member must have value greater than or equal to "+strconv.FormatInt(least, 10))
	}
}

func (c *constraints) atMost(n integer, most int64, at string) {
	if n.given && n.value > most {
		c.violated(quoted(strconv.FormatInt(n.value, 10)), at, "Member must have value less than or equal to "+strconv.FormatInt(most, 10))
	}
}

// length checks the length of a string or of a collection. shown returns it as the message shows
// it. If most is 0, there is no upper limit.
func (c *constraints) length(n, least, most int, shown func() string, at string) {
	switch {
	case n < least:
		c.violated(quoted(shown()), at, atLeastLong(least))
	case most > 0 && n > most:
		c.violated(quoted(shown()), at, atMostLong(most))
	}
}

func atLeastLong(n int) string {
	return "Member must have length greater than or equal to " + strconv.Itoa(n)
}

func atMostLong(n int) string {
	return "Member must have length less than or equal to " + strconv.Itoa(n)
}

// Lengths of names.
const (
	minName  = 3 // of new tables and of indexes
	maxName  = 255
	maxARN   = 1024
	anyTable = 1 // of tables in requests: a table with a shorter name than minName does not exist
)

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-') {
			return false
		}
	}
	return s != ""
}

// name checks the name of a table or index. A request may also name a table by its ARN.
func (c *constraints) name(t text, least int, at string) {
	if !t.given {
		return
	}
	most := maxName
	if strings.HasPrefix(t.value, "arn:") && least == anyTable {
		most = maxARN
	} else if !isName(t.value) {
		c.violated(quoted(t.value), at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	c.length(len(t.value), least, most, func() string { return t.value }, at)
}

// table checks the TableName of an operation on items.
func (c *constraints) table(t text, at string) {
	c.notNull(t.given, at)
	c.name(t, anyTable, at)
}

// Checks of enumerations that several operations have.

func (c *constraints) capacity(in *input) {
	c.enum(in.capacity, "returnConsumedCapacity", "INDEXES", "TOTAL", "NONE")
}

func (c *constraints) metrics(in *input) {
	c.enum(in.metrics, "returnItemCollectionMetrics", "SIZE", "NONE")
}

func (c *constraints) returnOnFailure(t text, at string) {
	c.enum(t, at, "ALL_OLD", "NONE")
}

func (c *constraints) conditionalOperator(in *input) {
	c.enum(in.conditionalOperator, "conditionalOperator", "OR", "AND")
}

func (c *constraints) attributesToGet(list []text, at string) {
	if list != nil {
		c.length(len(list), 1, maxName, func() string { return listing(list) }, at)
		if slices.ContainsFunc(list, func(t text) bool { return len(t.value) > attribute.MaxNameSize }) {
			c.violated(quoted(listing(list)), at, "Member must satisfy constraint: "+nameLength)
		}
	}
}

// nameLength is the constraint on names of attributes outside of items.
var nameLength = fmt.Sprintf("[Member must have length less than or equal to %d, Member must have length greater than or equal to 0]", attribute.MaxNameSize)

// attributeKey checks the name of an attribute that is a key of a map.
func (c *constraints) attributeKey(name, at string) {
	if len(name) > attribute.MaxNameSize {
		c.violated(quoted("{"+name+"=...}"), at, "Map keys must satisfy constraint: "+nameLength)
	}
}

func listing(list []text) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = t.value
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shape returns the text that stands for a list of n elements in an error message. AWS shows all
// elements instead.
func shape(n int) string {
	if n == 0 {
		return "[]"
	}
	return "[" + strconv.Itoa(n) + " elements]"
}
