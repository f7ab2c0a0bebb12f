// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Bodies of requests may be compressed, and those of answers are if the client accepts that (RFC
// 9110, 8.4). A request's signature covers the bytes that were sent.

// encodingOf returns the coding of a request's body; empty: none.
func encodingOf(r *http.Request) string {
	e := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding")))
	if e == "identity" {
		return ""
	}
	return e
}

// decode replaces the compressed body by its decompressed form, which may be no longer than an
// uncompressed body. If AWS cannot decompress a body, it reports a server error, after which SDKs
// retry. Here it is the client's error.
func (d *Door) decode(ctx context.Context, x *exchange, r *http.Request, h *budget.Account) error {
	wrong := exception.New(exception.Serialization, "")
	from := io.Reader(bytes.NewReader(x.body))
	var err error
	switch encodingOf(r) {
	case "gzip", "x-gzip":
		from, err = gzip.NewReader(from)
	case "deflate":
		// This is zlib's form, but some clients send the bare one.
		if z, bad := zlib.NewReader(from); bad == nil {
			from = z
		} else {
			from = flate.NewReader(bytes.NewReader(x.body))
		}
	default:
		err = wrong
	}
	if err != nil {
		return wrong
	}
	h.Shrink(0) // the compressed form is not needed any more
	var plain exchange
	switch err := d.fill(ctx, &plain, from, d.options.MaxBody, h); {
	case errors.Is(err, errTooLong), errors.Is(err, errNoRoom):
		return err
	case err != nil:
		return wrong
	}
	x.body = plain.body
	return nil
}

// encodings are the codings of answers. The first is preferred if a client accepts any.
var encodings = [...]string{"gzip", "deflate"}

// accepted returns the coding of an answer that a client prefers according to Accept-Encoding, or
// "" for none. Like AWS, it ignores identity, takes a weight above 1 as 1, and ignores a weight
// that is not a number.
func accepted(header string) (best string) {
	if header == "" {
		return ""
	}
	var weights [len(encodings)]float64
	var places [len(encodings)]int
	for i := range weights {
		weights[i] = -1
	}
	other := 0.0 // weight of codings that are not listed
	place := 0
	for entry := range strings.SplitSeq(header, ",") {
		place++
		name, parameters, _ := strings.Cut(entry, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "*" {
			other = weight(parameters)
		}
		for i := range encodings {
			if w := weight(parameters); name == encodings[i] && w > weights[i] {
				weights[i], places[i] = w, place
			}
		}
	}
	most, at := 0.0, 0
	for i := range encodings {
		w, p := weights[i], places[i]
		if w < 0 {
			w, p = other, place+1+i // after the listed codings
		}
		if w > most || w == most && w > 0 && p < at {
			best, most, at = encodings[i], w, p
		}
	}
	return best
}

// weight returns the first q in a coding's parameters, from 0 to 1.
func weight(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.TrimSpace(name) != "q" {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 1
		}
		return max(0, min(q, 1))
	}
	return 1
}
