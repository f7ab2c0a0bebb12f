// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/prices"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/report"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// question is what to advise on. Its fields are the flags of `evenkeel advise`.
type question struct {
	ID         string  `json:"id"`
	Queries    string  `json:"queries"`
	Target     string  `json:"target"`
	Region     string  `json:"region"`
	EventTime  string  `json:"event_time"`
	Types      string  `json:"types"` // col=type, several separated by spaces or commas
	MaxBadRows int64   `json:"max_bad_rows"`
	NodeWrites float64 `json:"node_writes_per_second"`
	LocalIndex bool    `json:"local_index"`
	Format     string  `json:"format"`
	Delimiter  string  `json:"delimiter"`
	Header     string  `json:"header"`
	Columns    string  `json:"columns"`    // separated by commas
	DateOrder  string  `json:"date_order"` // a list of col=dmy and col=mdy; spaces or commas separate the items
}

// design is a candidate that can be compared.
type design struct {
	Number    int    `json:"number"`
	Name      string `json:"name"`
	Shards    int    `json:"shards"`
	Shardable bool   `json:"shardable"`
	Chosen    bool   `json:"chosen"`
}

// advised is the answer to a question.
type advised struct {
	HTML    string   `json:"html"`
	Verdict bool     `json:"verdict"`
	Designs []design `json:"designs"`
}

// progress is a line that the page gets before the answer.
type progress struct {
	Phase string  `json:"phase"`
	Rows  int64   `json:"rows"`
	Part  float64 `json:"part,omitempty"` // of the data, in this reading
}

// talk sends lines of JSON. The last line is the answer or a failure.
type talk struct {
	w    http.ResponseWriter
	last time.Time
}

func begin(w http.ResponseWriter) *talk {
	w.Header().Set("Content-Type", "application/x-ndjson")
	return &talk{w: w}
}

func (t *talk) say(v any) {
	_ = json.NewEncoder(t.w).Encode(v) // a client that is gone does not read it
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}

// told is the least interval between two lines of progress.
const told = 100 * time.Millisecond

func (t *talk) progress(v progress) {
	if now := time.Now(); now.Sub(t.last) >= told {
		t.last = now
		t.say(v)
	}
}

// advise answers a question.
func (p *Page) advise(w http.ResponseWriter, r *http.Request) {
	q, err := ask[question](w, r)
	if err != nil {
		p.fail(w, http.StatusBadRequest, fmt.Errorf("the question: %w", err))
		return
	}
	p.answer(w, r, "advise", q.ID, func(d *data, t *talk) (any, error) { return d.advise(r.Context(), &q, t) })
}

// answer sends the result of work on the data with that id, when it is their turn.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, name, id string, work func(d *data, t *talk) (any, error)) {
	d, err := p.use(id)
	if err != nil {
		p.fail(w, http.StatusGone, err)
		return
	}
	defer p.leave(d)
	t := begin(w)
	d.one.Lock()
	defer d.one.Unlock()
	if r.Context().Err() != nil || !p.turn(r.Context(), t) {
		return // another choice was made in the meantime
	}
	defer p.ended()
	a, err := work(d, t)
	if r.Context().Err() != nil {
		return // nobody waits for it
	}
	if err != nil {
		t.say(p.failure(fmt.Errorf("%s: %w", name, err)))
		return
	}
	t.say(a)
}

// turn waits for one of the few places to work.
func (p *Page) turn(ctx context.Context, t *talk) bool {
	select {
	case p.jobs <- struct{}{}:
		return true
	default:
		t.say(progress{Phase: "waiting for others"})
	}
	select {
	case p.jobs <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Page) ended() { <-p.jobs }

func (d *data) advise(ctx context.Context, q *question, t *talk) (*advised, error) {
	qs, err := queries.Parse(q.Queries)
	var bad *queries.SyntaxError
	if errors.As(err, &bad) {
		bad.File = "queries"
	}
	if err != nil && strings.TrimSpace(q.Queries) != "" {
		return nil, err
	}
	o := advice.Options{Target: advice.Target(q.Target), EventTime: q.EventTime, NodeWrites: q.NodeWrites, LocalIndex: q.LocalIndex}
	switch o.Target {
	case "":
		o.Target = advice.Cassandra
	case advice.Cassandra, advice.Scylla:
	case advice.DynamoDB, advice.Keyspaces:
		region := q.Region
		if region == "" {
			region = "us-east-1"
		}
		if o.Prices, err = prices.Builtin().Of(q.Target, region); err != nil {
			return nil, fmt.Errorf("--region: %w", err)
		}
		o.NodeWrites = 0
	default:
		return nil, fmt.Errorf("--target: there is no store %q", q.Target)
	}
	o.LocalIndex = o.LocalIndex && o.Target == advice.DynamoDB
	if o.NodeWrites < 0 || o.NodeWrites > 1e9 || o.NodeWrites != o.NodeWrites {
		return nil, fmt.Errorf("--node-writes-per-second: %v is no rate of a node", o.NodeWrites)
	}
	if q.MaxBadRows < 0 {
		return nil, fmt.Errorf("--max-bad-rows: %d is negative", q.MaxBadRows)
	}
	_, dynamo := d.table.(dynamoTable)
	switch {
	case d.table != nil && (!named(qs) || dynamo && o.Target == advice.DynamoDB): // CQL would fold its name
		o.Table = d.table.name()
	case !named(qs):
		o.Table = advice.TableName(d.name)
	}
	types, err := typesOf(q.Types)
	if err != nil {
		return nil, err
	}
	first, err := monthsFirst(q.DateOrder)
	if err != nil {
		return nil, err
	}
	if err := d.open(ctx, q); err != nil {
		return nil, err
	}
	phase, size := "", int64(0)
	if src, ok := d.in.(*rows.Source); ok {
		_, size = src.Progress()
	}
	d.po = profile.Options{Types: types, MonthFirst: first, MaxBadRows: q.MaxBadRows, Progress: func(read, n int64) {
		v := progress{Phase: phase, Rows: n}
		if size > 0 {
			v.Part = min(1, float64(read)/float64(size))
		}
		t.progress(v)
	}}
	d.study, d.report, d.details = nil, nil, make(map[[2]int]*advice.Detail)
	study, r, err := advice.Run(ctx, d.in, qs, o, d.po, func(name string) { phase = name })
	if err != nil {
		var unknown *queries.UnknownColumn
		if errors.As(err, &unknown) {
			unknown.File = "queries"
		}
		return nil, err
	}
	phase = "plots"
	r.Details = study.Details()
	if err := study.Detailed(ctx, d.in, d.po, r.Details); err != nil {
		return nil, err
	}
	d.po.Progress = nil
	d.study, d.report = study, r
	a := &advised{Verdict: r.Verdict != nil}
	for _, t := range r.Details {
		d.details[[2]int{t.Number, t.Shards}] = t
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		chosen := false
		for _, t := range r.Details {
			chosen = chosen || t.Number == i && !t.Variant
		}
		a.Designs = append(a.Designs, design{Number: i, Name: c.Design, Shards: max(1, c.Shards), Shardable: study.CanShard(i), Chosen: chosen})
	}
	var b bytes.Buffer
	if err := report.AdviceFragment(&b, r, true); err != nil {
		return nil, err
	}
	a.HTML = b.String()
	return a, nil
}

// named reports whether the queries name a table.
func named(qs []queries.Query) bool {
	for i := range qs {
		if qs[i].Table != "" {
			return true
		}
	}
	return false
}

// open opens the data again, in the format that the question names.
func (d *data) open(ctx context.Context, q *question) error {
	if d.done != nil {
		d.done()
		d.done, d.in = nil, nil
	}
	if d.table != nil {
		var err error
		d.in, d.done, err = d.table.rows(ctx, d.sample)
		return err
	}
	o := rows.Options{Format: rows.Format(q.Format)}
	switch q.Delimiter {
	case "":
	case "tab", `\t`:
		o.Delimiter = '\t'
	default:
		if r := []rune(q.Delimiter); len(r) == 1 {
			o.Delimiter = r[0]
		} else {
			return fmt.Errorf("--delimiter %q: one ASCII character is wanted, or tab", q.Delimiter)
		}
	}
	if q.Columns != "" {
		for _, name := range strings.Split(q.Columns, ",") {
			o.Names = append(o.Names, strings.TrimSpace(name))
		}
	}
	switch q.Header {
	case "yes":
		o.Header = rows.HasHeader
	case "no":
		o.Header = rows.NoHeader
	}
	src, err := rows.OpenBytes(d.name, d.bytes, o)
	if err != nil {
		return err
	}
	d.in, d.done = src, src.Close
	return nil
}

// typesOf reads col=type, col=type.
func typesOf(text string) (map[string]*value.Type, error) {
	types := make(map[string]*value.Type)
	for _, pair := range pairs(text) {
		column, name, _ := strings.Cut(pair, "=")
		t := value.Named(strings.ToLower(name))
		if t == nil || t.Kind == value.Counter || column == "" {
			return nil, &hinted{fmt.Errorf("--type %s: there is no such type of a column", pair), "col=type; the simple CQL types: text, int, bigint, uuid, timeuuid, timestamp, date, …"}
		}
		types[column] = t
	}
	return types, nil
}

// monthsFirst parses a list such as sold=dmy, sent=mdy. For each column it returns whether the month
// comes first.
func monthsFirst(text string) (map[string]bool, error) {
	first := make(map[string]bool)
	for _, pair := range pairs(text) {
		column, order, _ := strings.Cut(pair, "=")
		month, ok := datetime.ParseOrder(order)
		if column == "" || !ok {
			return nil, &hinted{fmt.Errorf("--date-order %s: is neither col=dmy nor col=mdy", pair), datetime.OrderHint}
		}
		first[column] = month
	}
	return first, nil
}

func pairs(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\t' })
}
