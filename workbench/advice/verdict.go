// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Verdict is the recommended design, and why.
type Verdict struct {
	// PartitionKey holds columns of the data, without the time bucket and the shard.
	PartitionKey []string      `json:"partition_key"`
	Clustering   []string      `json:"clustering"`
	Descending   []string      `json:"descending"` // of Clustering
	Strategy     string        `json:"strategy"`   // none, calculated, random or time
	Shards       int           `json:"shards"`     // 1: no shards
	By           []string      `json:"by"`
	TimeBucket   *string       `json:"time_bucket"` // 1h, 1d, 1mo, 1y; null: none
	Bucket       *BucketColumn `json:"time_bucket_column"`
	Added        []string      `json:"added_columns"` // columns that the data do not have
	Natural      bool          `json:"natural"`       // the queries' own key, without shards or bucket

	Design  string   `json:"design"`
	Summary string   `json:"summary"`
	Reasons []string `json:"reasons"`
	Fact    string   `json:"fact"` // the fact that would change the verdict

	DDL         []string        `json:"ddl"`
	CreateTable json.RawMessage `json:"create_table,omitempty"` // only of DynamoDB
	Statements  []Statement     `json:"statements"`             // the queries for the advised tables
	Extras      []Extra         `json:"extras"`
	Unserved    []Unserved      `json:"unserved"`             // queries that are rare, or that no table serves
	Ways        []Ways          `json:"ways"`                 // to serve what the key does not serve
	KeyShards   *KeyShards      `json:"key_shards,omitempty"` // if only few keys need the shards
	Nodes       *NodesNeeded    `json:"nodes,omitempty"`      // that the writes need; only of the user's own
	Cache       string          `json:"cache,omitempty"`      // why a cache is needed
	Fence       string          `json:"fence,omitempty"`      // why the table is not for sharding
	Exceeded    []Exceeded      `json:"limits_exceeded"`
}

// verdict says which design is recommended, and why.
func (s *Study) verdict(list []ranked) *Verdict {
	d, c := list[0].d, &list[0].c
	v := &Verdict{
		PartitionKey: d.columns(), Clustering: d.clusteringNames(), Descending: []string{}, Strategy: s.strategy(d), Shards: max(1, d.Shards), By: d.By,
		Added: []string{}, Natural: d.plain() && !d.AddID, Design: s.nameOf(d), Exceeded: c.exceeded,
	}
	for i, name := range d.Clustering {
		if i < len(d.Desc) && d.Desc[i] {
			v.Descending = append(v.Descending, name)
		}
	}
	switch {
	case s.timed(d):
		v.By = d.Clustering[:1]
	case d.Shards > 1 && len(d.By) == 0:
		v.By = d.Clustering
	}
	if v.By == nil {
		v.By = []string{}
	}
	if v.Exceeded == nil {
		v.Exceeded = []Exceeded{}
	}
	if b := s.bucketOf(d); b != "" {
		v.TimeBucket = &b
	}
	if v.Bucket = s.bucketColumnOf(d); v.Bucket != nil {
		v.Added = append(v.Added, v.Bucket.Name)
	}
	if d.AddID {
		v.Added = append(v.Added, idColumn)
	}
	v.Extras = s.extras(d)
	if v.Extras == nil {
		v.Extras = []Extra{}
	}
	v.Ways = s.ways(d, v.Extras)
	v.Unserved = s.unserved(d, v.Extras, v.Ways)
	v.Cache = s.cache(d, s.heat(d))
	v.Fence = s.fence(d, c)
	v.KeyShards = s.keyShards(d, s.indexed(d))
	v.Nodes = s.nodesNeeded(1 + len(v.Extras))
	v.Reasons = s.reasons(list)
	if v.Nodes != nil {
		v.Reasons = append(v.Reasons, v.Nodes.Text())
	}
	v.Summary = s.summary(d, c, v)
	v.Fact = s.fact(list)
	if s.o.Target == DynamoDB {
		dynamoWriter{&s.serving}.write(d, v)
	} else {
		cqlWriter{&s.serving}.write(d, v)
	}
	return v
}

// summary says the verdict in a sentence.
func (s *Study) summary(d *Design, c *score, v *Verdict) string {
	var names []string
	for _, p := range s.logical(d).Partition {
		names = append(names, partName(p))
	}
	key := strings.Join(names, ", ")
	var t string
	switch {
	case s.timed(d):
		t = fmt.Sprintf("partition key (%s) in buckets of %s by %s: write_sharding's strategy time keeps them, and no statement names them", key, widthOf(d.bucket().Bucket), d.bucket().Column)
		if d.Shards > 1 {
			t += fmt.Sprintf("; each bucket has %d shards", d.Shards)
		}
	case d.plain() && c.severity == 0 && s.oneAtATime(d) && s.load.from == Unknown:
		t = fmt.Sprintf("partition key (%s): at any moment all writes go to one key, and how many that are is not known", key)
	case d.plain() && c.severity == 0 && s.oneAtATime(d):
		t = fmt.Sprintf("partition key (%s): at any moment all writes go to one key, which bears them: no shards are needed at this rate", key)
	case d.plain() && c.severity == 0:
		t = fmt.Sprintf("the natural key (%s) is fine: no shards are needed", key)
	case d.plain():
		t = fmt.Sprintf("partition key (%s)", key)
	case d.Shards <= 1:
		t = fmt.Sprintf("partition key (%s): the bucket bounds its partitions; no shards are needed", key)
	default:
		t = fmt.Sprintf("partition key (%s) in %d shards", key, d.Shards)
	}
	if n := len(v.Extras); n > 0 {
		one, many := "table serves", "tables serve"
		if s.o.Target == DynamoDB {
			one, many = "index serves", "indexes serve"
		}
		if n > 1 {
			one = many
		}
		t += fmt.Sprintf("; %d further %s what it does not", n, one)
	}
	if c.severity >= inHorizon {
		t += "; but a limit is exceeded all the same: " + c.worst()
		if v.Fence == "" {
			t += s.wayOut(d)
		}
	}
	return t
}

// wayOut says how to bound a partition that grows for ever, and that no bucket bounds.
func (s *ranker) wayOut(d *Design) string {
	if !s.growthOf(d).Unbounded || d.bucket() != nil {
		return ""
	}
	if len(d.Clustering) > 0 {
		c := s.p.Column(d.Clustering[0])
		if k := c.Type.Kind; (k == value.Int || k == value.Bigint) && c.Time == nil {
			block := math.Pow(10, math.Floor(math.Log10(math.Max(10, MaxBytes/2/math.Max(1, s.rowBytes(d))))))
			return fmt.Sprintf("; if %s counts up within each key, let the application write %s / %s, rounded down, and put it into the partition key: queries that give %s then know it", c.Name, c.Name, number(block), c.Name)
		}
	}
	switch {
	case s.bucketColumn(d) == "":
		return "; the data have no column of time to bound it with: let the application write one, such as the day, and put it into the partition key"
	case s.askedTime(d) == "":
		return "; the queries give no time, so that with a bucket of time each would read all buckets of its key: let them give one, or delete old rows"
	}
	return ""
}

// storedText says why a column of time is stored in another form than in the data.
func storedText(c *profile.Column) string {
	t := c.Time
	how := "in several units"
	switch {
	case len(t.Forms) > 0:
		how = "written " + strings.Join(t.Forms[:min(len(t.Forms), 3)], ", ")
	case t.Unit == 0:
		how = "written in several forms"
	}
	text := fmt.Sprintf("column %s is stored as a %s: %s, as in the data, it does not sort by time", c.Name, t.Store, how)
	if t.Example != "" {
		text += fmt.Sprintf("; store %s in place of %q", t.Stored, t.Example)
	}
	return text
}

// storedNotes says what to store, and to ask for, in place of the data's values. It does so for the
// columns of time that a query names, or that are in the key of rows that it writes.
func (s *facts) storedNotes(d *Design, q *queries.Query) (notes []string) {
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		named := q.Bound(c.Name) != nil || q.Range(c.Name) != nil || slices.Contains(q.Columns, c.Name) ||
			slices.ContainsFunc(d.Partition, func(p profile.Part) bool { return p.Column == c.Name }) && q.Verb != queries.Read ||
			slices.Contains(d.Clustering, c.Name) && q.Verb != queries.Read
		if !c.Stored || !named {
			continue
		}
		note := fmt.Sprintf("store %s as a %s", c.Name, c.Time.Store)
		if q.Verb == queries.Read {
			note = fmt.Sprintf("store %s as a %s, and ask for it as one", c.Name, c.Time.Store)
		}
		if c.Time.Example != "" {
			note += fmt.Sprintf(": %s in place of %q", c.Time.Stored, c.Time.Example)
		}
		notes = append(notes, note)
	}
	return notes
}

// nullsIn returns the columns of a design's key in which rows have no value.
func (s *facts) nullsIn(d *Design) (names []string) {
	for _, p := range d.Partition {
		names = append(names, p.Column)
	}
	return slices.DeleteFunc(append(names, d.Clustering...), func(name string) bool {
		c := s.p.Column(name)
		return c.Nulls+c.Empty == 0
	})
}

// wideReads is a number of partitions a second. If a query reads so many, the verdict says so. They take
// 2.5 cores (cpuPartition).
const wideReads = 50_000

// reasons says what the design is good for, in the order of the criteria.
func (s *Study) reasons(list []ranked) []string {
	d, c := list[0].d, &list[0].c
	m := s.of(d)
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	which := ""
	if m.Unkeyed > 0 {
		which = "that has a key "
	}
	switch {
	case d.AddID:
		add("no row is lost: %s, a timeuuid that the application adds, tells rows apart, which no columns of the data do", idColumn)
	case c.lost > 0:
		repeated := exactlyOf(c.lost)
		if m := s.exactly(d); m != nil && m.Unkeyed == 0 {
			repeated = m.Lost
		}
		add("%s lost: no value in a column of the key, or a key that repeats", estimatedAre(repeated, "row"))
	default:
		if m := s.exactly(d); m != nil && !m.Lost.Exact && m.Lost.High >= 1 {
			add("no row of the sample is lost: of all %s, between 0 and %s are, with 99%% confidence", countOf(float64(s.p.Rows), "row"), number(math.Ceil(m.Lost.High)))
		} else {
			add("no row %sis lost: the primary key is different in each of %s", which, countOf(float64(s.p.Rows-m.Unkeyed), "row"))
		}
		if s.byTime(d) {
			columns := strings.Join(s.notTime(d), ", ")
			add("that holds as long as no two rows with the same %s have the same %s%s", columns, s.timeIn(d), s.seldom(d))
			if needed, known, is := s.crowded(d); is {
				add("at the stated rate that needs more values of %s than the data have: %s rows come in a step of %s, which is %s, and the data have at most %s. If no more values come, rows overwrite others: add a column that tells them apart",
					columns, number(needed), s.timeIn(d), stepText(resolution(s.p.Column(s.timeIn(d)))), number(known))
			}
		}
	}
	if m.Unkeyed > 0 && c.lost == 0 {
		add("%s have no value in %s, and have no place under this key: they count for none of its figures", countOf(float64(m.Unkeyed), "row"), strings.Join(s.nullsIn(d), ", "))
	}
	if b := s.bucketColumnOf(d); b != nil {
		if t := s.p.Column(b.Of).Made; t != nil {
			add("column %s gives the time of the buckets, for each value is %s: %s. CQL reads no time from it, so that write_sharding cannot keep the buckets: the application computes %s from it, in writes and in queries", b.Of, t.ID, t.Where, b.Name)
		}
	}
	for _, name := range d.Clustering {
		if c := s.p.Column(name); c.Stored {
			add("%s", storedText(c))
		}
	}
	one := []int{}
	for i := range s.qs {
		q := &s.qs[i]
		if q.Verb == queries.Insert || s.refusal(d, q) != "" {
			continue
		}
		switch v := s.serve(d, q); v.Kind {
		case OnePartition:
			if !slices.Contains(one, q.Line) {
				one = append(one, q.Line)
			}
		case FanOut:
			more := ""
			if each := rateOf(q) * v.Partitions; each >= wideReads {
				more = fmt.Sprintf("; at %s/s these are %s partitions a second. Keep what it asks for in a table of its own", number(rateOf(q)), number(each))
				switch {
				case len(q.Order) > 0 && q.Limit == 1:
					more += ": the first row of each key, written when it changes"
				case len(q.Order) > 0 && q.Limit > 0:
					more += fmt.Sprintf(": the first %s rows of each key, written when they change", number(float64(q.Limit)))
				case s.readsAllBuckets(d, q):
					more += ", or let it give a time: then it reads the buckets of that time alone"
				}
			}
			add("line %d reads %s partitions: %s%s", q.Line, number(v.Partitions), v.Why, more)
		}
	}
	if len(one) > 0 {
		add("%s: one partition", lines(one))
	}
	if t := s.fenceReason(d); t != "" {
		add("%s", t)
	}
	size := s.projected(d)
	if s.o.Target.nodes() {
		add("in the data a partition has at most %s, %s serialized", countOf(math.Ceil(s.largest(d, m, rowSizes).High), "row"), sizeText(s.largest(d, m, byteSizes).High))
		if size.why != "" {
			add("with %s the largest gets %s", size.why, size.text())
		}
	} else {
		add("in the data a partition has at most %s", countOf(math.Ceil(s.largest(d, m, rowSizes).High), "row"))
	}
	if t := s.keepText(d); t != "" {
		add("%s", t)
	}
	h := s.heat(d)
	switch {
	case h.Source == Unknown:
		add("heat: %s", h.Why)
	case h.WriteLimit > 0:
		add("the hottest partition gets %s write units/s, its limit is %s (%s)", h.units(), number(h.WriteLimit), h.Why)
	case h.NodeLimit > 0:
		add("the hottest of %s nodes takes %s of the writes, %s a second (%s)", number(s.nodes()), percent(h.Node), h.ofNode(), h.Why)
	}
	return out
}

// readsAllBuckets reports whether a query reads all of a key's buckets of time, because it gives none.
func (s *serving) readsAllBuckets(d *Design, q *queries.Query) bool {
	b := d.bucket()
	return b != nil && q.Bound(b.Column) == nil && q.Range(b.Column) == nil && !s.onward(d, *b, q)
}

// fact finds the fact that would change the verdict: a rate at which the design reaches a limit, a
// query without which another design is better, or something unknown.
func (s *ranker) fact(list []ranked) string {
	d := list[0].d
	if s.load.from == Unknown {
		if rate, what := s.bearable(d); rate > 0 {
			return fmt.Sprintf("the rate of writes, which is not known: from about %s a second on, %s", number(rate), what)
		}
	}
	if factor, text := s.breaking(d); factor > 1 && factor < 1000 && s.load.from != Unknown {
		return fmt.Sprintf("writes at %s a second, %s times as many as now: %s", number(s.load.writes*factor), number(factor), text)
	}
	if t := s.withoutQuery(list); t != "" {
		return t
	}
	if factor, text := s.breaking(d); factor > 1 && s.load.from != Unknown && factor < 10_000 {
		return fmt.Sprintf("writes at %s a second, %s times as many as now: %s", number(s.load.writes*factor), number(factor), text)
	}
	return "none that was tried: neither other rates nor fewer queries"
}

// fork returns a copy of the ranker, in which something can be changed to see the effect.
func (s *ranker) fork() *ranker {
	t := *s
	t.best = make(map[string]*Design)
	return &t
}

// bearable returns the rate of writes at which a design reaches its first limit, and that limit, if
// the stated rate is unknown.
func (s *ranker) bearable(d *Design) (float64, string) {
	t := s.fork()
	t.load = load{writes: 1, insert: 1, from: FromQueries, ttl: s.load.ttl}
	factor, text := t.breaking(d)
	if math.IsInf(factor, 1) {
		return 0, ""
	}
	return factor, text
}

// breaking returns the factor of the writes' rate from which on a design exceeds a limit that it
// does not exceed now, and that limit.
func (s *ranker) breaking(d *Design) (float64, string) {
	at := func(factor float64) score {
		t := s.fork()
		t.load.writes *= factor
		t.load.insert *= factor
		c := newScore()
		t.limits(d, &c)
		return c
	}
	now := at(1)
	high := 2.0
	for ; high < 1e7; high *= 2 {
		if c := at(high); c.severity > now.severity {
			break
		}
	}
	if high >= 1e7 {
		return math.Inf(1), ""
	}
	low := high / 2
	for range 30 {
		if mid := math.Sqrt(low * high); at(mid).severity > now.severity {
			high = mid
		} else {
			low = mid
		}
	}
	c := at(high)
	return high, c.worst()
}

// withoutQuery names a query without which another design would be the best.
func (s *ranker) withoutQuery(list []ranked) string {
	read := 0
	for i := range s.qs {
		if s.qs[i].Verb != queries.Insert {
			read++
		}
	}
	if read < 2 {
		return ""
	}
	for i := range s.qs {
		q := &s.qs[i]
		if !s.judged(q) || q.Batch != nil && !s.speaks(q) {
			continue
		}
		t := s.fork()
		t.qs = slices.Delete(slices.Clone(s.qs), i, i+1)
		if q.Batch != nil {
			t.qs = slices.DeleteFunc(t.qs, func(x queries.Query) bool { return x.Batch == q.Batch })
		}
		again := t.ranking()
		if len(again) == 0 {
			continue
		}
		now := t.scoreOf(list[0].d)
		now.anchor = again[0].c.anchor
		if judge(&again[0].c, &now) < 0 && partitionID(again[0].d.Partition) != partitionID(list[0].d.Partition) {
			return fmt.Sprintf("line %d: were it not asked, %s would be better", s.qs[i].Line, s.nameOf(again[0].d))
		}
	}
	return ""
}

// seldom says how seldom rows agree in a design's primary key at the stated rate; "": often, or that is not known.
func (s *traffic) seldom(d *Design) string {
	l := s.lossOf(d)
	if l == nil || l.High >= leastLoss || l.High <= 0 {
		return ""
	}
	return fmt.Sprintf(": if rows come by chance at %s a second, less than once in %s", number(s.load.insert), countOf(math.Floor(math.Min(1000, 1/l.High/365)), "year"))
}

// byTime reports whether only a time, together with values that repeat, tells rows apart.
func (s *facts) byTime(d *Design) bool {
	if d.AddID || s.timeIn(d) == "" || len(s.notTime(d)) == 0 {
		return false
	}
	for _, c := range s.notTime(d) {
		if s.p.Column(c).Distinct.High >= float64(s.p.Rows) {
			return false
		}
	}
	return true
}

// timeIn returns the finest column of time in the primary key, or "".
func (s *facts) timeIn(d *Design) string { return s.finestTime(append(d.columns(), d.Clustering...)) }

// finestTime returns the column of time with the shortest steps, or "".
func (s *facts) finestTime(columns []string) (finest string) {
	for _, c := range columns {
		if s.isTime(c) && (finest == "" || resolution(s.p.Column(c)) < resolution(s.p.Column(finest))) {
			finest = c
		}
	}
	return finest
}

// notTime returns the other columns of the primary key.
func (s *facts) notTime(d *Design) []string {
	return slices.DeleteFunc(append(d.columns(), d.Clustering...), s.isTime)
}
