// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// data is an uploaded file or a table, with its results.
type data struct {
	id, name string
	bytes    []byte // of a file
	table    table  // a live table
	sample   float64
	size     int64 // the part of Page.held for these data
	used     time.Time
	busy     int // requests that work with it; while there are any, it is not dropped

	one     sync.Mutex // one request at a time; guards the following fields
	in      profile.Input
	done    func() // closes in
	po      profile.Options
	study   *advice.Study
	report  *advice.Report
	details map[[2]int]*advice.Detail // by number and shards
}

// take stores new data, and makes room for them.
func (p *Page) take(d *data) error {
	d.id, d.used = rand.Text(), time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire(time.Now())
	for p.held+d.size > MaxHeld || len(p.data) >= maxData {
		oldest := (*data)(nil)
		for _, other := range p.data {
			if other.busy == 0 && (oldest == nil || other.used.Before(oldest.used)) {
				oldest = other
			}
		}
		if oldest == nil {
			return &hinted{fmt.Errorf("%s: there is no room: %d MB are held, and at work", d.name, p.held>>20), "wait until the others are done"}
		}
		p.drop(oldest)
	}
	d.busy = 1
	p.data[d.id] = d
	p.held += d.size
	return nil
}

// expire drops data that were not used for long. The caller holds p.mu.
func (p *Page) expire(now time.Time) {
	for _, d := range p.data {
		if d.busy == 0 && now.Sub(d.used) > IdleLimit {
			p.drop(d)
		}
	}
}

// drop forgets data with which no request works. The caller holds p.mu.
func (p *Page) drop(d *data) {
	delete(p.data, d.id)
	p.held -= d.size
	d.close()
}

// close frees what the data hold.
func (d *data) close() {
	if d.done != nil {
		d.done()
	}
	if d.table != nil {
		d.table.close()
	}
	d.bytes, d.in, d.done, d.table, d.study, d.report, d.details = nil, nil, nil, nil, nil, nil, nil
}

// use finds data for a request. leave ends the use.
func (p *Page) use(id string) (*data, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire(time.Now())
	d := p.data[id]
	if d == nil {
		return nil, &hinted{errors.New("these data are no longer held"), fmt.Sprintf("drop the file in again: files are forgotten after %.0f minutes without use, and when others need the room", IdleLimit.Minutes())}
	}
	d.busy++
	return d, nil
}

func (p *Page) leave(d *data) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.busy--
	d.used = time.Now()
	if p.data[d.id] != d && d.busy == 0 {
		d.close() // it was forgotten in the meantime
	}
}

// Expire drops data that were not used for long, until ctx ends.
func (p *Page) Expire(ctx context.Context) {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			p.mu.Lock()
			p.expire(now)
			p.mu.Unlock()
		}
	}
}

// held is what the page learns about data.
type held struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Size int64  `json:"size,omitempty"`
}

// upload takes a file.
func (p *Page) upload(w http.ResponseWriter, r *http.Request) {
	name := path.Base(strings.ReplaceAll(r.URL.Query().Get("name"), `\`, "/"))
	if name == "" || name == "." || name == "/" || len(name) > 255 {
		name = "data"
	}
	switch n := r.ContentLength; {
	case n < 0:
		p.fail(w, http.StatusLengthRequired, fmt.Errorf("%s: the request does not say how long it is", name))
		return
	case n > MaxUpload:
		p.fail(w, http.StatusRequestEntityTooLarge, &hinted{fmt.Errorf("%s: has %d MB; the page takes up to %d MB, for it keeps them in memory", name, n>>20, MaxUpload>>20),
			"pack it (gzip, zstd, Parquet), or use the command line, which takes any size: evenkeel advise " + name})
		return
	}
	d := &data{name: name, size: r.ContentLength}
	if err := p.take(d); err != nil {
		p.fail(w, http.StatusServiceUnavailable, err)
		return
	}
	defer p.leave(d)
	b := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, b); err != nil {
		p.give(d.id)
		p.fail(w, http.StatusBadRequest, fmt.Errorf("%s: did not arrive whole: %w", name, err))
		return
	}
	d.one.Lock()
	d.bytes = b
	d.one.Unlock()
	// A file that cannot be read at all is refused at once.
	src, err := rows.OpenBytes(name, b, rows.Options{})
	if err != nil {
		p.give(d.id)
		p.fail(w, http.StatusUnprocessableEntity, fmt.Errorf("advise: %w", err))
		return
	}
	src.Close()
	answer(w, held{d.id, name, d.size})
}

// give forgets data when no request works with them any more.
func (p *Page) give(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.data[id]
	if d == nil {
		return
	}
	if d.busy == 0 {
		p.drop(d)
		return
	}
	delete(p.data, id)
	p.held -= d.size
}

// forget forgets the data of a page that is left.
func (p *Page) forget(_ http.ResponseWriter, r *http.Request) { p.give(r.URL.Query().Get("id")) }

// place is a requested live table.
type place struct {
	Address  string  `json:"address"`
	Token    string  `json:"token"`
	Password string  `json:"password"`
	TLS      bool    `json:"tls"`
	Sample   float64 `json:"sample"`
}

// live opens a live table.
func (p *Page) live(w http.ResponseWriter, r *http.Request) {
	at, err := ask[place](w, r)
	if err != nil {
		p.fail(w, http.StatusBadRequest, fmt.Errorf("live table: %w", err))
		return
	}
	if !p.knows(strings.TrimSpace(at.Token)) {
		p.fail(w, http.StatusForbidden, &hinted{errors.New("live tables are read for those only who have the token"), "evenkeel serve printed it when it began, on standard error"})
		return
	}
	if !(at.Sample >= 0 && at.Sample <= 1) {
		p.fail(w, http.StatusBadRequest, fmt.Errorf("--sample: %v is no part of the whole, above 0 and up to 1", at.Sample))
		return
	}
	t, err := openTable(r.Context(), at)
	if err != nil {
		p.fail(w, http.StatusUnprocessableEntity, fmt.Errorf("advise: %w", err))
		return
	}
	d := &data{name: strings.TrimSpace(at.Address), table: t, sample: at.Sample}
	if err := p.take(d); err != nil {
		t.close()
		p.fail(w, http.StatusServiceUnavailable, err)
		return
	}
	p.leave(d)
	answer(w, held{ID: d.id, Name: d.name})
}
