package dynamodoor

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// contentType is that of the API's requests and answers.
const contentType = "application/x-amz-json-1.0"

// gzipFrom is the shortest body that is worth compressing.
const gzipFrom = 1024

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

// send sends an answer, compressed where the client asks for that and it is worth
// it.
func send(w http.ResponseWriter, r *http.Request, status int, content string, body []byte) {
	header := w.Header()
	if len(body) >= gzipFrom && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		z := compressors.Get().(*compressor)
		defer compressors.Put(z)
		body = z.compress(body)
		header["Content-Encoding"] = []string{"gzip"}
	}
	if content != "" {
		header["Content-Type"] = []string{content}
	} else {
		header["Content-Type"] = nil
	}
	header["x-amz-crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone, and does not want to know
}

// acceptsGzip reads Accept-Encoding.
func acceptsGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, parameter, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == "gzip" {
			q, weighed := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !weighed || err == nil && weight > 0
		}
	}
	return false
}

type compressor struct {
	gzip *gzip.Writer
	out  bytes.Buffer
}

var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant that exists
	}
	return &compressor{gzip: z}
}}

// compress returns body compressed, valid until the next use. Writing to memory
// does not fail.
func (z *compressor) compress(body []byte) []byte {
	z.out.Reset()
	z.gzip.Reset(&z.out)
	_, _ = z.gzip.Write(body)
	_ = z.gzip.Close()
	return z.out.Bytes()
}
