// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// RowsOptions says which part of a table to read as rows.
type RowsOptions struct {
	Fraction float64 // of the hashes, in segments all over them; 0 and 1: all
	Seed     uint64  // chooses the segments
	Workers  int     // concurrent readers; 0: 4
}

// sampled is the number of segments of a sample.
const sampled = 64

// Segments returns segments that together are a fraction of a table: at least that many pieces of
// it, drawn from the seed.
func Segments(pieces int, fraction float64, seed uint64) []Segment {
	if fraction <= 0 || fraction >= 1 {
		fraction = 1
	}
	of := min(MaxSegments, max(1, int(float64(pieces)/fraction)))
	list := rand.New(rand.NewPCG(seed, 1)).Perm(of)[:max(1, int(float64(of)*fraction+0.5))]
	slices.Sort(list)
	out := make([]Segment, len(list))
	for i, n := range list {
		out[i] = Segment{n, of}
	}
	return out
}

// Rows returns the table as rows, which can be read several times: items as objects of JSON Lines,
// in which sets, lists and maps are no values of a key. The store is read once, during the first
// reading of the rows. The rows are stored in a temporary file until done is called.
func (t *Table) Rows(ctx context.Context, o RowsOptions) (in *rows.Source, done func(), err error) {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	ctx, cancel := context.WithCancelCause(ctx)
	pipe, out := io.Pipe()
	// An error of the store ends the rows, and the reader of the rows gets it.
	go func() {
		err := t.feed(ctx, o, out)
		cancel(err)
		if errors.Is(err, context.Canceled) {
			err = nil // the rows end here
		}
		out.CloseWithError(err)
	}()
	s, err := rows.Open("-", rows.Options{Format: rows.JSONLines, Stdin: pipe, Name: t.at.String(), Again: true})
	if err != nil {
		pipe.CloseWithError(context.Canceled)
		cancel(nil)
		var bad *rows.Unreadable
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		} else if errors.As(err, &bad) {
			err = &livetable.Error{At: "table " + t.at.Table, Err: errors.New("has no items"), Hint: "advice and simulations are of rows: load some, or give a file"}
		}
		return nil, nil, err
	}
	return s, func() {
		cancel(nil)
		pipe.CloseWithError(context.Canceled)
		s.Close()
		t.Close()
	}, nil
}

// feed writes all items.
func (t *Table) feed(ctx context.Context, o RowsOptions, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pieces := sampled
	if o.Fraction <= 0 || o.Fraction >= 1 {
		pieces = o.Workers
	}
	todo := make(chan Segment)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range o.Workers {
		wg.Go(func() {
			var page []byte
			for s := range todo {
				_, err := t.scan(ctx, s, 0, func(it attribute.Item) error {
					page = append(AppendJSON(page, it), '\n')
					return nil
				}, func() error {
					mu.Lock()
					defer mu.Unlock()
					_, err := out.Write(page)
					page = page[:0]
					return err
				})
				if err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for _, s := range Segments(pieces, o.Fraction, o.Seed) {
		select {
		case todo <- s:
		case <-ctx.Done():
			break feed
		}
	}
	close(todo)
	wg.Wait()
	return context.Cause(ctx)
}

// AppendJSON appends an item as an object: strings and numbers as they are, bytes as base64, nested
// values as objects and arrays.
func AppendJSON(dst []byte, it attribute.Item) []byte {
	dst = append(dst, '{')
	for i := range it {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, it[i].Name), ':')
		dst = appendValue(dst, it[i].Value)
	}
	return append(dst, '}')
}

func appendText(dst []byte, s string) []byte {
	b, _ := json.Marshal(s) // a string always encodes
	return append(dst, b...)
}

func appendValue(dst []byte, v attribute.Value) []byte {
	switch v.Kind() {
	case attribute.S:
		return appendText(dst, v.Text())
	case attribute.N:
		return append(dst, v.Text()...)
	case attribute.B:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), []byte(v.Text())), '"')
	case attribute.BOOL:
		if v.True() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case attribute.M:
		return AppendJSON(dst, v.Fields())
	case attribute.L, attribute.SS, attribute.NS, attribute.BS:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}
