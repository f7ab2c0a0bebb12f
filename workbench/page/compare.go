// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/report"
)

// choice says which designs to put side by side.
type choice struct {
	ID      string `json:"id"`
	Designs []int  `json:"designs"`
	Shards  int    `json:"shards"` // for designs that can have shards; 0: their own number
}

// maxChosen is the greatest number of designs in a comparison: as many as there are lines that are
// easy to tell apart.
const maxChosen = 4

// maxDetails limits the stored measurements of comparisons.
const maxDetails = 200

// compare puts designs side by side.
func (p *Page) compare(w http.ResponseWriter, r *http.Request) {
	c, err := ask[choice](w, r)
	if err != nil {
		p.fail(w, http.StatusBadRequest, fmt.Errorf("compare: %w", err))
		return
	}
	p.answer(w, r, "compare", c.ID, func(d *data, _ *talk) (any, error) {
		html, err := d.compare(r, &c)
		return struct {
			HTML string `json:"html"`
		}{html}, err
	})
}

func (d *data) compare(r *http.Request, c *choice) (string, error) {
	switch {
	case d.report == nil:
		return "", errors.New("nothing has been judged yet")
	case len(c.Designs) == 0 || len(c.Designs) > maxChosen:
		return "", fmt.Errorf("%d designs; 1 to %d can be compared", len(c.Designs), maxChosen)
	case c.Shards < 0 || c.Shards > shard.MaxShards:
		return "", fmt.Errorf("%d shards; there can be 1 to %d", c.Shards, shard.MaxShards)
	}
	if len(d.details) > maxDetails {
		clear(d.details)
	}
	var all, missing []*advice.Detail
	var missed [][2]int
	for _, number := range c.Designs {
		if number < 0 || number >= len(d.report.Candidates) {
			return "", fmt.Errorf("there is no design %d", number)
		}
		shards := max(1, d.report.Candidates[number].Shards)
		if c.Shards > 0 && d.study.CanShard(number) {
			shards = c.Shards
		}
		at := [2]int{number, shards}
		t := d.details[at]
		if t == nil {
			t = d.study.Variant(number, shards)
			missing, missed = append(missing, t), append(missed, at)
		}
		all = append(all, t)
	}
	if len(missing) > 0 {
		if err := d.study.Detailed(r.Context(), d.in, d.po, missing); err != nil {
			return "", err
		}
		if err := r.Context().Err(); err != nil {
			return "", err // not all rows were read
		}
		for i, t := range missing {
			d.details[missed[i]] = t
		}
	}
	var b bytes.Buffer
	if err := report.CompareFragment(&b, d.report, all); err != nil {
		return "", err
	}
	return b.String(), nil
}

// report sends the report as a file. Values of keys are hidden unless keys=1.
func (p *Page) report(w http.ResponseWriter, r *http.Request) {
	d, err := p.use(r.URL.Query().Get("id"))
	if err != nil {
		p.fail(w, http.StatusGone, err)
		return
	}
	defer p.leave(d)
	d.one.Lock()
	defer d.one.Unlock()
	if d.report == nil {
		p.fail(w, http.StatusNotFound, errors.New("nothing has been judged yet"))
		return
	}
	var b bytes.Buffer
	if err := report.AdviceHTML(&b, d.report, r.URL.Query().Get("keys") == "1"); err != nil {
		p.fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="evenkeel-%s.html"`, time.Now().UTC().Format("2006-01-02-150405")))
	_, _ = w.Write(b.Bytes()) // a client that is gone does not read it
}
