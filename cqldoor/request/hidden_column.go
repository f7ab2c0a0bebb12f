// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// WithoutName returns an error of the backend without the name of the hidden column.
func WithoutName(err error, hidden string) error {
	var e *wire.Error
	if hidden == "" || !errors.As(err, &e) {
		return err
	}
	n := *e
	n.Message = HideName(e.Message, hidden)
	return &n
}

// HideName returns a text of the backend with write_sharding in place of the hidden column's name.
func HideName(text, hidden string) string {
	if hidden == "" {
		return text
	}
	word := regexp.MustCompile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(hidden) + `($|[^\pL\pN_])`)
	return word.ReplaceAllString(text, "${1}write_sharding${2}")
}

// namesShardColumn adds an explanation to the error for a statement that names the shard column of an adopted
// table. The application knew this column before the adoption. namesShardColumn returns any other error
// unchanged.
func namesShardColumn(s *tables.State, err error, text, keyspace string) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return err
	}
	for n := range syntax.Tables(text) {
		t := s.Table(cmp.Or(n.Keyspace, keyspace), n.Name)
		if t == nil || t.Adopted == 0 || !strings.HasPrefix(e.Message, "Undefined column name "+Identifier(t.Layout.Column)+" in") {
			continue
		}
		told := *e
		told.Message += fmt.Sprintf(" (write_sharding: table %s.%s was sharded by hand by its column %s, and is adopted: evenkeel fills that in and hides it; leave it out)",
			t.Keyspace, t.Name, Identifier(t.Layout.Column))
		return &told
	}
	return err
}
