// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Report is the output of `evenkeel advise --json`.
type Report struct {
	Data    string `json:"data"`
	Rows    int64  `json:"rows"`
	BadRows int64  `json:"bad_rows"`
	// BadFirst holds the first few bad rows: file, line and reason.
	BadFirst []string `json:"bad_rows_first,omitempty"`
	Partial  bool     `json:"partial,omitempty"` // not all rows were read
	Target   Target   `json:"target"`
	Table    string   `json:"table"`

	EventTime string   `json:"event_time,omitempty"`   // the column
	Changed   *Changed `json:"rate_changed,omitempty"` // of the rows' rate; nil: it did not change
	Heat      string   `json:"heat_source"`
	Writes    float64  `json:"writes_per_second,omitempty"` // that the queries state; 0: they state none

	Verdict      *Verdict      `json:"verdict"`              // null without queries
	NoVerdict    string        `json:"no_verdict,omitempty"` // why there is none
	Antipatterns []Antipattern `json:"antipatterns"`
	HotKeys      []HotKey      `json:"hot_keys"`
	Columns      []Column      `json:"columns"`
	Queries      []QueryText   `json:"queries"`
	Candidates   []Candidate   `json:"candidates"` // the best first
	Assumptions  []string      `json:"assumptions"`

	Details []*Detail `json:"-"` // the designs of the plots, if they were measured
}

// Changed says that rows come at another rate since some time.
type Changed struct {
	From   string  `json:"from"`
	Times  float64 `json:"times"` // the rate since, divided by the rate before
	Before float64 `json:"rows_per_second_before"`
	Since  float64 `json:"rows_per_second_since"`
}

// QueryText is a query as it was given.
type QueryText struct {
	Line int     `json:"line"`
	Text string  `json:"text"`
	Rate float64 `json:"rate_per_second,omitempty"`
}

// Candidate is a design and everything that is known about it.
type Candidate struct {
	PartitionKey []string `json:"partition_key"`
	TimeBucket   string   `json:"time_bucket,omitempty"`
	Clustering   []string `json:"clustering"`
	Strategy     string   `json:"strategy"`
	Shards       int      `json:"shards"`
	By           []string `json:"by,omitempty"`
	Design       string   `json:"design"` // for people

	Partitions float64 `json:"partitions"`
	RowsLost   float64 `json:"rows_lost"`
	Loss       *Loss   `json:"loss,omitempty"`   // at the stated rate; nil: none, or it cannot be said
	RowsNull   int64   `json:"rows_without_key"` // refused: a column of the key is null
	RowsP50    float64 `json:"rows_p50"`
	RowsP99    float64 `json:"rows_p99"`
	RowsMax    float64 `json:"rows_max"`
	BytesP50   float64 `json:"bytes_p50"`
	BytesP99   float64 `json:"bytes_p99"`
	BytesMax   float64 `json:"bytes_max"`
	CellsMax   float64 `json:"cells_max"`
	Exact      bool    `json:"exact"` // the maximum was counted, not estimated

	// ItemBytes is the mean size of an item as the store bills it, with what the key adds; only of
	// stores that bill requests.
	ItemBytes float64 `json:"item_bytes,omitempty"`

	// Intervals holds the intervals of estimated figures. A figure without an interval is exact.
	Intervals Intervals `json:"intervals,omitempty"`

	ProjectedBytes float64 `json:"projected_bytes_max,omitempty"` // at the queries' rates
	ProjectedRows  float64 `json:"projected_rows_max,omitempty"`
	ProjectedWhy   string  `json:"projected_why,omitempty"`

	Serves   string     `json:"serves"` // queries that it could serve, as a WHERE clause
	Queries  []Served   `json:"queries"`
	Unserved float64    `json:"unserved_share"`
	Filtered float64    `json:"filtered_share"`
	Exceeded []Exceeded `json:"limits_exceeded"`
	Headroom float64    `json:"headroom"`

	Skew   *Skew  `json:"skew,omitempty"`
	Heat   Heat   `json:"heat"`
	Growth Growth `json:"growth"`
	Cost   Cost   `json:"cost"`

	Pareto  bool    `json:"pareto"`
	WhyLost string  `json:"why_lost,omitempty"`
	Extras  []Extra `json:"extras,omitempty"`
}

// Served says how a candidate serves a query.
type Served struct {
	Line       int     `json:"line"`
	Service    string  `json:"service"`
	Partitions float64 `json:"partitions"`
	Rows       float64 `json:"rows_read"`
	Why        string  `json:"why,omitempty"`
	By         string  `json:"by,omitempty"` // the key of the further table or index that serves the query in place of the table
}

// Column is a column of the profile.
type Column struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Given       bool     `json:"type_given"`
	Distinct    float64  `json:"distinct"`
	Exact       bool     `json:"distinct_exact"`
	Nulls       int64    `json:"nulls"`
	MeanBytes   float64  `json:"mean_bytes"`
	Top         string   `json:"top,omitempty"`
	TopShare    float64  `json:"top_share,omitempty"`
	TopLow      float64  `json:"top_share_low,omitempty"`
	TopHigh     float64  `json:"top_share_high,omitempty"`
	Low         float64  `json:"distinct_low"`
	High        float64  `json:"distinct_high"`
	Min         string   `json:"min,omitempty"`
	Max         string   `json:"max,omitempty"`
	Granularity string   `json:"time_granularity,omitempty"`
	First       string   `json:"first,omitempty"` // only of a time
	Last        string   `json:"last,omitempty"`
	Notes       []string `json:"notes,omitempty"`
}

// isoTime is the format of times.
const isoTime = "2006-01-02T15:04:05.999Z07:00"

// enoughForGrowth is the number of rows from which on a report says how values come.
const enoughForGrowth = 20_000

// maxCandidates is the greatest number of candidates in a report.
const maxCandidates = 60

// Report judges the designs. Without queries its result has no verdict.
func (s *Study) Report() *Report {
	r := &Report{
		Data: s.p.Data, Rows: s.p.Rows, BadRows: s.p.Bad, Partial: s.p.Partial, Target: s.o.Target, Table: s.table(),
		EventTime: s.timeName(), Heat: s.load.why, Columns: s.columns(), Queries: []QueryText{}, Candidates: []Candidate{},
	}
	if p := &s.pace; !p.from.IsZero() {
		r.Changed = &Changed{p.from.UTC().Format(time.RFC3339), p.times, p.base / p.times, p.base}
	}
	for i := range s.p.Bads {
		r.BadFirst = append(r.BadFirst, s.p.Bads[i].Error())
	}
	for i := 0; i < len(s.qs); {
		q := &s.qs[i]
		text := q.Text
		if q.Batch != nil {
			text = q.Batch.Text
		}
		r.Queries = append(r.Queries, QueryText{q.Line, text, q.Rate})
		_, i = s.batched(i)
	}
	list := s.ranking()
	var best *Design
	switch {
	case len(s.qs) == 0:
		r.NoVerdict = "rows show how the data are spread, but not what the queries ask: without queries any unique key would look good"
	case !s.reads():
		r.NoVerdict = "the queries only insert: nothing says how rows are looked up"
	case len(list) == 0:
		r.NoVerdict = "no column that the queries bind can be in a key"
	default:
		best = list[0].d
	}
	front := pareto(list)
	s.listed = nil
	for i := range list {
		if i == maxCandidates {
			break
		}
		s.listed = append(s.listed, list[i].d)
		c := s.candidate(&list[i])
		c.Pareto = front[i]
		if best != nil && i > 0 {
			c.WhyLost = s.whyLost(list[0], list[i])
		}
		r.Candidates = append(r.Candidates, c)
	}
	r.Antipatterns, r.HotKeys = critic{&s.sizes}.antipatterns(best, best != nil && list[0].c.severity == 0), critic{&s.sizes}.hotKeys(best)
	if best != nil {
		r.Verdict = s.verdict(list)
	}
	r.Assumptions = s.assumptions()
	if s.load.from == FromQueries {
		r.Writes = s.load.writes
	}
	return r
}

func (s *Study) candidate(x *ranked) Candidate {
	d, m := x.d, s.of(x.d)
	c := Candidate{
		PartitionKey: d.columns(), Clustering: d.clusteringNames(), Strategy: s.strategy(d), Shards: max(1, d.Shards), By: d.By, Design: s.nameOf(d),
		Partitions: m.Partitions.Value, RowsLost: lost(m), Loss: s.lossAtRate(d), RowsNull: m.Unkeyed,
		RowsP50: m.RowSizes.P50.Value, RowsP99: m.RowSizes.P99.Value, RowsMax: m.RowSizes.Max.Value,
		BytesP50: m.ByteSizes.P50.Value, BytesP99: m.ByteSizes.P99.Value, BytesMax: m.ByteSizes.Max.Value, Exact: m.RowSizes.Max.Exact,
		Queries: []Served{}, Unserved: x.c.unserved + x.c.refused, Filtered: x.c.filtered, Exceeded: x.c.exceeded, Headroom: x.c.headroom,
		Skew: s.skewOf(d), Heat: s.heat(d), Growth: s.growthOf(d), Extras: s.extras(d),
	}
	c.TimeBucket, c.Serves = s.bucketOf(d), serves(d)
	c.Cost = s.costOf(d, c.Extras)
	if s.o.Target.units() {
		c.ItemBytes = s.keyedBytes(d) + s.indexBytes(d, c.Extras)
	}
	c.CellsMax = c.RowsMax * math.Max(1, float64(len(s.p.Columns)-len(d.Partition)-len(d.Clustering)))
	if d.AddID {
		c.RowsLost = 0
	}
	if c.Exceeded == nil {
		c.Exceeded = []Exceeded{}
	}
	if p := s.projected(d); p.why != "" {
		c.ProjectedBytes, c.ProjectedRows, c.ProjectedWhy = p.bytes, p.rows, p.why
	}
	c.Intervals = s.intervals(&c, d, m)
	for i := 0; i < len(s.qs); {
		q := &s.qs[i]
		v, kind := s.together(d, i)
		_, i = s.batched(i)
		served := Served{Line: q.Line, Service: kind, Partitions: v.Partitions, Rows: v.Rows, Why: v.Why}
		for j := range c.Extras {
			if slices.Contains(c.Extras[j].Lines, q.Line) {
				served.By = c.Extras[j].Key
			}
		}
		c.Queries = append(c.Queries, served)
	}
	return c
}

// serves returns the WHERE clause of the queries that a design answers.
func serves(d *Design) string {
	var where []string
	for _, p := range d.Partition {
		where = append(where, partName(p)+" = ?")
	}
	t := strings.Join(where, " AND ")
	if len(d.Clustering) > 0 {
		t += fmt.Sprintf(" [AND %s = ? or a range of it]", d.Clustering[0])
	}
	return t
}

// bucketOf returns the time bucket of a design as a CQL duration: of a bucket, or of a column of
// the partition key that is a period of time itself.
func (s *facts) bucketOf(d *Design) string {
	if b := d.bucket(); b != nil {
		return bucketText(b.Bucket)
	}
	if g, has := s.period(d); has && g >= profile.Minute {
		return bucketText(g)
	}
	return ""
}

func (d *Design) clusteringNames() []string {
	out := append([]string{}, d.Clustering...)
	if d.AddID {
		out = append(out, idColumn)
	}
	return out
}

// columns returns the columns of the profile for a report.
func (s *Study) columns() []Column {
	out := []Column{}
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		col := Column{
			Name: c.Name, Type: c.Type.String(), Given: c.Given && !c.Stored, Distinct: c.Distinct.Value, Exact: c.Distinct.Exact, Nulls: c.Nulls,
			MeanBytes: c.MeanBytes, Min: c.Min, Max: c.Max, Low: c.Distinct.Low, High: c.Distinct.High,
		}
		if values := math.Max(1, float64(c.Values)); c.Most.High > 1 {
			col.TopShare, col.TopLow, col.TopHigh = c.Most.Value/values, c.Most.Low/values, c.Most.High/values
		}
		if len(c.Top) > 0 && c.Top[0].Rows.Value > 1 {
			col.Top = c.Top[0].Text
		}
		note := func(format string, args ...any) { col.Notes = append(col.Notes, fmt.Sprintf(format, args...)) }
		if c.Note != "" {
			note("%s", c.Note)
		}
		switch {
		case c.Order.Sequential:
			note("sequential")
		case c.Order.Monotonic && c.Distinct.Value > 1:
			note("monotonic")
		}
		if c.Time != nil {
			col.Granularity = unitName(c.Time.Granularity)
			col.First, col.Last = c.Time.First.Format(isoTime), c.Time.Last.Format(isoTime)
			what := "time, to the " + finest(c.Time)
			if s.time == c {
				what = "taken as the time of writing, to the " + finest(c.Time)
			}
			note("%s", what)
		}
		if t := c.Made; t != nil {
			col.Granularity, col.First, col.Last = unitName(t.Granularity), t.First.Format(isoTime), t.Last.Format(isoTime)
			if s.time == c {
				note("the time in it is taken as the time of writing, to the %s", finest(t))
			}
		}
		n := len(c.Growth)
		if s.p.Rows < enoughForGrowth {
			n = 0
		}
		switch {
		case c.Distinct.Value >= 0.99*float64(c.Values) && c.Values > 1:
			note("unique, or nearly")
		case n == 10 && c.Growth[0] >= 0.99 && c.Distinct.Value > 1:
			note("all values come in the first tenth of the rows")
		case n == 10 && c.Growth[4] < 0.6 && c.Distinct.Value >= 20:
			note("new values keep coming")
		}
		if line := s.fixed[c.Name]; line > 0 {
			note("updated by line %d: no key column", line)
		}
		out = append(out, col)
	}
	return out
}

// table returns the table's name.
func (s *facts) table() string {
	if q := s.namer(); q != nil {
		return q.Table
	}
	return cmp.Or(s.o.Table, "rows")
}

// nameInStore returns the table's name as the target has it. In DynamoDB there are no keyspaces: a name
// from CQL loses its keyspace. All other names may have dots, and stay as they are.
func (s *facts) nameInStore() string {
	table := s.table()
	if q := s.namer(); q != nil && s.o.Target == DynamoDB && q.Keyspace != "" {
		return strings.TrimPrefix(table, q.Keyspace+".")
	}
	return table
}

// namer returns the query that gives the table its name; nil: no query does.
func (s *facts) namer() *queries.Query {
	if i := slices.IndexFunc(s.qs, func(q queries.Query) bool { return q.Table != "" }); i >= 0 && s.o.Table == "" {
		return &s.qs[i]
	}
	return nil
}

// assumptions lists what the advice assumes because nothing says it.
func (s *Study) assumptions() []string {
	out := []string{}
	add := func(format string, args ...any) {
		if t := fmt.Sprintf(format, args...); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	add("heat of writes: %s", s.load.why)
	if s.time != nil && s.o.EventTime == "" {
		add("column %s is taken as the time at which rows were written (--event-time says otherwise)", s.time.Name)
	}
	reads, unrated := false, false
	for i := range s.qs {
		reads = reads || s.qs[i].Verb == queries.Read
		unrated = unrated || s.qs[i].Rate == 0
	}
	if reads {
		add("heat of reads: unknown; where it matters, keys are taken to be read as often as they have rows")
	}
	if unrated {
		add("a query without a rate counts as %d a second", UnratedPerSecond)
	}
	if p := &s.pace; !p.from.IsZero() {
		add("rows come %s times as fast since %s: growth and heat are reckoned from that", number(p.times), minutes(p.from))
	}
	if s.load.from == FromQueries && s.load.insert > 0 {
		add("the rates last all day: if they are peaks, partitions grow more slowly than is said here")
	}
	if s.o.Target.nodes() && s.load.writes > 0 {
		add("a node bears %s writes/s (--node-writes-per-second); nodes: %s, replicas: %d", number(s.o.NodeWrites), number(s.nodes()), RF)
	}
	for i := range s.qs {
		for _, b := range s.qs[i].Equal {
			if b.Values == 0 {
				add("IN with a marker has %d values", ListValues)
			}
		}
		for _, r := range s.qs[i].Ranges {
			if r.From == "" && r.To == "" {
				add("a range between markers selects a tenth of a partition, and goes over %d time buckets", RangeBuckets)
			}
		}
	}
	if len(s.listed) > 0 && s.listed[0].Shards > 1 && slices.ContainsFunc(s.qs, func(q queries.Query) bool {
		return q.Verb == queries.Read && q.Limit > 0 && s.serve(s.listed[0], &q).Kind == FanOut
	}) {
		add("a query with a LIMIT over shards reads each of them once; where they have more rows than it asks for, it reads some a second time")
	}
	if len(s.qs) > 0 {
		add("keys are asked for alike: a query reads a partition of mean size")
	}
	return out
}
