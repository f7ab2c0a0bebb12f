// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Run reads the rows as often as needed, and judges. It calls phase, if that is not nil, with the
// purpose of each reading.
func Run(ctx context.Context, in profile.Input, qs []queries.Query, o Options, po profile.Options, phase func(string)) (*Study, *Report, error) {
	if phase == nil {
		phase = func(string) {}
	}
	if o.EventTime != NoEventTime {
		po.EventTime = o.EventTime
	}
	phase("columns")
	p, err := profile.Of(ctx, in, po)
	if err != nil {
		return nil, nil, err
	}
	if err := resolve(p, qs, po); err != nil {
		return nil, nil, err
	}
	if c := maybeDays(p, qs); c != "" && o.EventTime == "" {
		phase("columns, of which " + c + " counts days")
		po.EventTime = c
		if p, err = profile.Of(ctx, in, po); err != nil {
			return nil, nil, err
		}
	}
	p = p.Stored(inOrderOf(qs))
	s, err := New(p, qs, o)
	if err != nil {
		var name *BadName
		if o.EventTime != "" && !errors.As(err, &name) {
			err = fmt.Errorf("--event-time: %w", err)
		}
		return nil, nil, err
	}
	po.Billing = o.Target.billing(p.Columns)
	for cs := s.Next(); len(cs) > 0; cs = s.Next() {
		phase(fmt.Sprintf("%d keys", len(cs)))
		measured, _, err := profile.Measure(ctx, in, p, cs, po)
		if err != nil {
			return nil, nil, err
		}
		s.Take(measured)
	}
	// The verdict's own keys are measured alone if their partitions did not all fit into memory.
	if cs := s.Alone(); len(cs) > 0 {
		phase("the best key alone")
		po.OneLane = true
		measured, _, err := profile.Measure(ctx, in, p, cs, po)
		if err != nil {
			return nil, nil, err
		}
		s.Take(measured)
	}
	return s, s.Report(), nil
}

// maybeDays returns the column of numbers that could be days, if queries order rows by it, or take a range of
// it, and no other column is a time. Then the queries show that it is a time. "": there is none, or there are
// several.
func maybeDays(p *profile.Profile, qs []queries.Query) (column string) {
	for i := range p.Columns {
		c := &p.Columns[i]
		switch {
		case c.Moments() != nil:
			return ""
		case !c.MaybeDays || !slices.Contains(inOrderOf(qs), c.Name):
		case column != "":
			return ""
		default:
			column = c.Name
		}
	}
	return column
}

// Detailed measures the details for plots, in one reading.
func (s *Study) Detailed(ctx context.Context, in profile.Input, po profile.Options, details []*Detail) error {
	var cs []profile.Candidate
	for _, t := range details {
		cs = append(cs, t.Wants(s.timeName()))
	}
	if len(cs) == 0 {
		return nil
	}
	measured, partial, err := profile.Measure(ctx, in, s.p, cs, po)
	if err == nil && partial {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	s.TakeDetails(details, measured)
	return nil
}

// resolve replaces the names of columns in queries by the data's names. It returns an error if the
// data have no column of that name, for types too.
func resolve(p *profile.Profile, qs []queries.Query, po profile.Options) error {
	var names []string
	for i := range p.Columns {
		names = append(names, p.Columns[i].Name)
	}
	for _, column := range slices.Sorted(maps.Keys(po.Types)) {
		if p.Column(column) == nil {
			return fmt.Errorf("--type: %w", &NoColumn{Column: column, Columns: names})
		}
	}
	for i := range qs {
		if err := qs[i].Resolve(names); err != nil {
			return err
		}
	}
	return nil
}

// TableName makes a table's name from a file's name. It returns "" if it cannot.
func TableName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' {
			b.WriteRune(c)
		} else if b.Len() > 0 {
			b.WriteByte('_')
		}
	}
	if t := strings.Trim(b.String(), "_"); t != "" && (t[0] < '0' || t[0] > '9') {
		return t
	}
	return ""
}
