// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Runner runs steps on sessions and compares every session's answers with those of the first
// session, the judge.
type Runner struct {
	Sessions []*Session
	Refusals *Refusals
	Tally    *Tally
	// AnyRefusal lets sharded targets refuse anything on the list of refusals, without @refused.
	// The runner then sends a step first to the sharded target with the most shards. If that
	// refuses the step, no other target gets it, so that all keep equal data.
	AnyRefusal bool
	// AnyError lets the judge answer a step with an error that the script does not name. All others
	// must answer with the same error.
	AnyError bool
	// SendNow makes the writes of scripts with TTLs carry their time (v5). Otherwise, on a slow
	// machine, writes around the tick of a second get two different times, and the answers differ
	// for ever.
	SendNow bool
	// Report receives each difference.
	Report func(format string, args ...any)
	// Log receives what is no difference, but worth knowing. nil: nobody wants it.
	Log func(format string, args ...any)

	script   *Script
	began    time.Time
	stamp    int64 // the last default timestamp
	now      int32 // when the step began, in seconds
	reported int
	differed map[int][]labelled // the judge's answers to the steps with differences
}

// maxReports is the largest number of differences that are reported for a script. Most of the later
// ones follow from the first.
const maxReports = 15

// Run runs a script.
func (r *Runner) Run(s *Script) {
	defer func(all []*Session) { r.Sessions = all }(r.Sessions)
	r.script, r.began, r.reported, r.differed = s, time.Now(), 0, map[int][]labelled{}
	for i := range s.Steps {
		if !r.step(i, &s.Steps[i]) {
			return
		}
	}
}

// labelled is one of several answers to a step: a SELECT is sent as a query, prepared, and in
// pages.
type labelled struct {
	label  string
	answer *Answer
	pages  []int // lengths of the pages, if there are any
}

var (
	isSelect   = regexp.MustCompile(`(?is)^\s*SELECT\b`)
	isMutation = regexp.MustCompile(`(?is)^\s*(INSERT|UPDATE|DELETE|BEGIN)\b`)
)

// step runs one step on all sessions concurrently. It returns false if a connection is lost,
// because the script cannot continue then.
func (r *Runner) step(index int, p *Step) bool {
	time.Sleep(p.Wait)
	if p.PlacedTable != "" {
		r.placed(p)
		return true
	}
	r.stamp = max(r.stamp+1, time.Now().UnixMicro())

	if r.script.TTL {
		avoidTick()
	}
	r.now = int32(time.Now().Unix())
	answers := make([][]labelled, len(r.Sessions))
	errs := make([]error, len(r.Sessions))
	scout := r.scout()
	if scout >= 0 {
		answers[scout], errs[scout] = r.perform(r.Sessions[scout], index, p)
		if errs[scout] == nil {
			if e := failure(answers[scout]); e != nil && r.Refusals.Any(e) != "" {
				if !createTable.MatchString(p.Text) {
					return true
				}
				// The history continues, on plain tables everywhere.
				r.plain()
				return r.step(index, p)
			}
		}
	}
	scouting := scout >= 0
	perform := func() {
		var wg sync.WaitGroup
		for i, s := range r.Sessions {
			if p.UnshardedOnly && s.Sharding != "" || scouting && i == scout {
				continue
			}
			wg.Go(func() { answers[i], errs[i] = r.perform(s, index, p) })
		}
		wg.Wait()
		scouting = false // a repeated read is repeated on all sessions
	}
	perform()
	for i, s := range r.Sessions {
		if errs[i] != nil {
			r.Report("%s:%d: %s: %v\n%s", r.script.Name, p.Line, s.Name, errs[i], indent(p.Text))
			return false
		}
	}
	// Only a read may be repeated. Around the tick of a second, answers differ once (expiry,
	// ttl()). A wrong answer stays wrong.
	for range 5 {
		if !r.script.TTL || !isSelect.MatchString(p.Text) || r.agree(p, answers) {
			break
		}
		time.Sleep(230 * time.Millisecond)
		perform()
	}

	if isSelect.MatchString(p.Text) && !r.agree(p, answers) {
		r.again(index, p, answers)
	}

	judge := answers[0]
	if label, d := expected(p, judge); d != "" && !r.AnyError {
		r.differed[index] = judge
		r.report(p, label, d, r.Sessions[0].Name)
		return true
	}
	var diffs grouped
	for i, s := range r.Sessions {
		if answers[i] == nil {
			continue
		}
		if label, d := r.difference(s, p, judge, answers[i]); d != "" {
			diffs.add(label, d, s.Name)
			continue
		}
		if failure(answers[i]) == nil {
			r.Tally.count(s.Name, p.Text)
			continue
		}
		if p.Refused != "" && s.Sharding != "" && createTable.MatchString(p.Text) {
			// Create the table without the property, so that the following steps have one.
			plain := *s
			plain.Sharding = ""
			if err := s.must(plain.text(p.Text)); err != nil {
				r.report(p, "the table without the property", err.Error(), s.Name)
			}
		}
	}
	if len(diffs) > 0 {
		r.differed[index] = judge
	}
	for _, g := range diffs {
		r.report(p, g.label, g.difference, strings.Join(g.targets, "; "))
	}
	return true
}

// again asks the judge once more. If it contradicts itself, its second answers count. The others
// are not asked again: their answers must be right at once.
func (r *Runner) again(index int, p *Step, answers [][]labelled) {
	judge := r.Sessions[0]
	second, err := r.perform(judge, index, p)
	if err != nil {
		return
	}
	if label, d := r.difference(judge, p, answers[0], second); d != "" {
		if r.Log != nil {
			r.Log("%s:%d: %s contradicts itself, %s:\n%s\n%s", r.script.Name, p.Line, judge.Name, label, indent(p.Text), indent(d))
		}
		answers[0] = second
	}
}

// Contradicts runs the script once more, on a judge with an empty keyspace alone. It reports whether
// this judge answers a step with a difference otherwise than the judge of the last Run. Then that
// Run says nothing: Cassandra forgets a dropped column's newer cells, too, if it happens to flush
// the table before the column is added again.
func (r *Runner) Contradicts(judge *Session) (bool, error) {
	r.began = time.Now()
	for i := range r.script.Steps {
		p := &r.script.Steps[i]
		time.Sleep(p.Wait)
		if p.PlacedTable != "" {
			continue
		}
		r.stamp = max(r.stamp+1, time.Now().UnixMicro())
		if r.script.TTL {
			avoidTick()
		}
		r.now = int32(time.Now().Unix())
		answers, err := r.perform(judge, i, p)
		if err != nil {
			return false, err
		}
		first, differed := r.differed[i]
		if !differed {
			continue
		}
		if label, d := r.difference(judge, p, first, answers); d != "" {
			r.Log("%s:%d: %s contradicts itself when the script runs again, %s:\n%s\n%s", r.script.Name, p.Line, judge.Name, label, indent(p.Text), indent(d))
			return true, nil
		}
	}
	return false, nil
}

// grouped holds differences, each with the targets that show it.
type grouped []struct {
	label, difference string
	targets           []string
}

func (g *grouped) add(label, difference, target string) {
	for i := range *g {
		if e := &(*g)[i]; e.label == label && e.difference == difference {
			e.targets = append(e.targets, target)
			return
		}
	}
	*g = append(*g, struct {
		label, difference string
		targets           []string
	}{label, difference, []string{target}})
}

// scout returns the index of the session that first tells whether a step is refused, or -1 for
// none.
func (r *Runner) scout() int {
	best := -1
	for i, s := range r.Sessions {
		if r.AnyRefusal && s.Sharding != "" && (best < 0 || s.Shards > r.Sessions[best].Shards) {
			best = i
		}
	}
	return best
}

// plain continues with sessions that have plain tables.
func (r *Runner) plain() {
	r.Sessions = slices.Clone(r.Sessions)
	for i, s := range r.Sessions {
		c := *s
		c.Sharding = ""
		r.Sessions[i] = &c
	}
}

// avoidTick sleeps past the end of a second if that is near. A TTL begins at a whole second, which
// must be the same on all targets.
func avoidTick() {
	const margin = 150 * time.Millisecond
	if into := time.Duration(time.Now().Nanosecond()); into > time.Second-margin {
		time.Sleep(time.Second - into + 10*time.Millisecond)
	}
}

func (r *Runner) agree(p *Step, answers [][]labelled) bool {
	for i := 1; i < len(answers); i++ {
		if answers[i] == nil {
			continue
		}
		if _, d := r.difference(r.Sessions[i], p, answers[0], answers[i]); d != "" {
			return false
		}
	}
	return true
}

// expected returns the difference of the judge's answers from the script's expectation.
func expected(p *Step, judge []labelled) (label, d string) {
	for _, l := range judge {
		if l.answer.Kind != Error {
			continue
		}
		if int(l.answer.Code) == p.Error {
			return "", ""
		}
		if p.Error < 0 {
			return l.label, fmt.Sprintf("the script expects success; the judge says %v", l.answer)
		}
		return l.label, fmt.Sprintf("the script expects error %04x; the judge says %v", p.Error, l.answer)
	}
	if p.Error >= 0 {
		last := judge[len(judge)-1]
		return last.label, fmt.Sprintf("the script expects error %04x; the judge says %v", p.Error, last.answer)
	}
	return "", ""
}

func (r *Runner) report(p *Step, label, d, targets string) {
	r.reported++
	switch {
	case r.reported < maxReports:
		text := p.Text
		if p.Bind != nil {
			text += "\n-- bound: " + strings.Join(p.Bind, ", ")
		}
		r.Report("%s:%d: %s, %s:\n%s\n%s", r.script.Name, p.Line, targets, label, indent(text), indent(d))
	case r.reported == maxReports:
		r.Report("%s: further differences are not listed", r.script.Name)
	}
}

// failure returns the first error among the answers, or nil.
func failure(answers []labelled) *Answer {
	for _, l := range answers {
		if l.answer.Kind == Error {
			return l.answer
		}
	}
	return nil
}

// difference compares one session's answers to a step with the judge's.
func (r *Runner) difference(s *Session, p *Step, judge, got []labelled) (label, d string) {
	if s.refuses(p.Refused) {
		e := failure(got)
		if e != nil && r.Refusals.Match(p.Refused, e) {
			return "", ""
		}
		// One shard allows much that several do not.
		if last := got[len(got)-1]; s.Shards != 1 || e != nil {
			return last.label, fmt.Sprintf("want refusal %s\ngot  %v", p.Refused, last.answer)
		}
	}
	o := Comparison{CodeOnly: p.CodeOnly, Unordered: p.Unordered && s.Sharding != "", Sharded: s.Sharding != ""}
	for i := range max(len(judge), len(got)) {
		switch {
		case i >= len(got):
			return judge[i].label, "no answer of this kind, since the one before it failed"
		case i >= len(judge):
			return got[i].label, fmt.Sprintf("the judge did not come so far; got %v", got[i].answer)
		}
		if d := Difference(judge[i].answer, got[i].answer, o); d != "" {
			return judge[i].label, d
		}
		if d := pagesDifference(judge[i].pages, got[i].pages, s.Sharding != "", o.Unordered); d != "" {
			return judge[i].label, d
		}
	}
	return "", ""
}

// pagesDifference compares the lengths of pages. They must be equal for plain tables. Sharded
// tables must not have more pages, except one more, because Cassandra may end with an empty page.
func pagesDifference(want, got []int, sharded, unordered bool) string {
	switch {
	case unordered:
	case sharded && len(got) > len(want)+1, !sharded && fmt.Sprint(want) != fmt.Sprint(got):
		return fmt.Sprintf("lengths of pages: want %v, got %v", want, got)
	}
	return ""
}

// perform sends a step to one session in all ways for its kind.
func (r *Runner) perform(s *Session, index int, p *Step) ([]labelled, error) {
	text := s.text(p.Text)
	req := Request{Query: text, Timestamp: p.Timestamp}
	if p.Timestamp == nil && !r.script.ServerTime && isMutation.MatchString(text) {
		req.Timestamp = &r.stamp
	}
	if r.SendNow && r.script.TTL && isMutation.MatchString(text) {
		req.Now = &r.now
	}
	if p.Now != nil {
		now := int32(r.began.Unix()) + *p.Now
		req.Now = &now
	}
	var out []labelled
	add := func(label string, a *Answer, pages []int) {
		a.rename(s.Keyspace, openKeyspace)
		out = append(out, labelled{label, a, pages})
	}

	selects := isSelect.MatchString(text)
	prepared := p.Bind != nil || selects || isMutation.MatchString(text) && index%2 == 1
	if p.Bind == nil && (selects || !prepared) {
		a, err := s.Query(req)
		if err != nil {
			return nil, err
		}
		add("query", a, nil)
	}
	var prep *Answer
	if prepared {
		var err error
		if prep, err = s.Prepare(text); err != nil {
			return nil, err
		}
		add("prepare", prep, nil)
		if prep.Kind != Prepared {
			return out, nil
		}
		if req.Values, err = bindValues(p.Bind, prep.Bind); err != nil {
			return nil, err
		}
		if p.Bind != nil && (selects || index%2 == 0) {
			a, err := s.Query(req)
			if err != nil {
				return nil, err
			}
			add("query with values", a, nil)
		}
		if p.Bind == nil || selects || index%2 == 1 {
			a, err := s.Execute(prep, req)
			if err != nil {
				return nil, err
			}
			add("execute", a, nil)
			if a.Kind != Rows {
				return out, nil
			}
		}
	}
	if !selects || out[0].answer.Kind == Error {
		return out, nil
	}
	sizes := p.Pages
	if sizes == nil {
		sizes = r.script.Pages
	}
	for i, size := range sizes {
		// Pages are read by QUERY and EXECUTE in turn.
		by := req
		by.PageSize = size
		execute := p.Bind != nil || i%2 == 1
		by.SkipMeta = execute
		a, pages, err := s.readPages(by, prep, execute)
		if err != nil {
			return nil, err
		}
		add(fmt.Sprintf("pages of %d", size), a, pages)
	}
	return out, nil
}

// maxPages is the number of pages after which a read that does not end is stopped.
const maxPages = 2_000

// readPages reads all pages. It returns them as one answer, with their lengths.
func (s *Session) readPages(req Request, prep *Answer, execute bool) (*Answer, []int, error) {
	var all *Answer
	var lengths []int
	for range maxPages {
		var a *Answer
		var err error
		if execute {
			a, err = s.Execute(prep, req)
		} else {
			a, err = s.Query(req)
		}
		if err != nil || a.Kind == Error {
			return a, lengths, err
		}
		lengths = append(lengths, len(a.Rows))
		if len(a.Rows) > int(req.PageSize) {
			return nil, lengths, fmt.Errorf("a page of %d rows where %d were asked for", len(a.Rows), req.PageSize)
		}
		if all == nil {
			all = a
		} else {
			all.Rows = append(all.Rows, a.Rows...)
			all.State = a.State
		}
		if a.State == nil {
			return all, lengths, nil
		}
		req.State = a.State
	}
	return nil, nil, fmt.Errorf("a read of %d pages does not end", maxPages)
}

// placed checks an @placed annotation on the sharded targets whose store the test can read.
func (r *Runner) placed(p *Step) {
	for _, s := range r.Sessions {
		if s.Sharding == "" || s.Backend == "" {
			continue
		}
		rows, err := Placement(s.Target, s.Keyspace, p.PlacedTable)
		if err != nil {
			r.report(p, "placement", err.Error(), s.Name)
			continue
		}
		if want := min(p.PlacedMin, s.Shards); len(rows) < want {
			r.report(p, "placement", fmt.Sprintf("rows in shards %v: want at least %d of %d shards", rows, want, s.Shards), s.Name)
		}
		for shard := range rows {
			if s.Shards > 0 && (shard < 1 || shard > s.Shards) {
				r.report(p, "placement", fmt.Sprintf("a row in shard %d of 1..%d", shard, s.Shards), s.Name)
			}
		}
	}
}
