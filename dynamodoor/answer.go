// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// contentType is the content type of the API's requests and answers.
const contentType = "application/x-amz-json-1.0"

// compressFrom is the shortest body that is compressed, as with AWS.
const compressFrom = 4096

// requestID draws the request's id, in the form of AWS's.
func (x *exchange) requestID() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	for i := 0; i < len(x.id); {
		n := rand.Uint64()
		for k := 0; k < 12 && i < len(x.id); k++ {
			x.id[i] = alphabet[n&31]
			n >>= 5
			i++
		}
	}
	return string(x.id[:])
}

// send sends an answer. It compresses the body if the client accepts that and the body is long
// enough.
func send(w http.ResponseWriter, r *http.Request, status int, content string, body []byte) {
	header := w.Header()
	if len(body) >= compressFrom {
		if coding := accepted(r.Header.Get("Accept-Encoding")); coding != "" {
			z := compressors.Get().(*compressor)
			defer compressors.Put(z)
			body = z.compress(body, coding)
			header["Content-Encoding"] = []string{coding}
		}
	}
	if content != "" {
		header["Content-Type"] = []string{content}
	} else {
		header["Content-Type"] = nil
	}
	header["x-amz-crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone
}

type compressor struct {
	gzip *gzip.Writer
	zlib *zlib.Writer
	out  bytes.Buffer
}

var compressors = sync.Pool{New: func() any {
	g, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	z, err2 := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	if err = errors.Join(err, err2); err != nil {
		panic(err) // the level is a valid constant
	}
	return &compressor{gzip: g, zlib: z}
}}

// compress returns body compressed, valid until the next use. Writing to memory does not fail.
func (z *compressor) compress(body []byte, coding string) []byte {
	z.out.Reset()
	if coding == "deflate" {
		z.zlib.Reset(&z.out)
		_, _ = z.zlib.Write(body)
		_ = z.zlib.Close()
		return z.out.Bytes()
	}
	z.gzip.Reset(&z.out)
	_, _ = z.gzip.Write(body)
	_ = z.gzip.Close()
	return z.out.Bytes()
}
