package rows

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// MaxRecord is the longest record, in bytes.
const MaxRecord = 16 << 20

// Format is how rows are written.
type Format string

const (
	Auto      Format = ""      // by the file's name; by the first character where that says nothing
	CSV       Format = "csv"   // RFC 4180, the first line names the columns
	JSONLines Format = "jsonl" // an object a line
)

// Options says what the name of a file does not.
type Options struct {
	Format    Format
	Delimiter rune      // of CSV; 0: a comma, or a tab in *.tsv
	Again     bool      // Scan is called more than once: standard input is kept in a temporary file
	Stdin     io.Reader // what "-" reads; os.Stdin where nil
}

// Source is an open file of rows. It is for one goroutine, but for Progress.
type Source struct {
	name  string // for messages
	size  int64  // of the file, 0 where it is not known
	read  atomic.Int64
	close []func()
	rows  format
}

// format is a way of writing rows.
type format interface {
	// columns are the names, where the head of the data gives them, and the line
	// that does.
	columns() (names []string, line int, err error)
	// choose says which columns next is to give, by name.
	choose(names []string) error
	next() ([]string, error)
	line() int
}

// Open opens a file, or standard input for "-".
func Open(name string, o Options) (*Source, error) {
	s := &Source{name: name}
	in := o.Stdin
	switch {
	case name == "-":
		s.name = "standard input"
		if in == nil {
			in = os.Stdin
		}
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, openError(name, err)
		}
		s.close = append(s.close, func() { f.Close() })
		st, err := f.Stat()
		if err == nil && st.IsDir() {
			err = errors.New("is a folder")
		}
		if err != nil {
			s.Close()
			return nil, &Unreadable{Name: name, Err: err, hint: "give one file of rows"}
		}
		if st.Mode().IsRegular() {
			s.size = st.Size()
		}
		in = f
	}
	if err := s.open(in, name, o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func openError(name string, err error) error {
	hint := ""
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err, hint = errors.New("there is no such file"), "- reads standard input"
		entries, _ := os.ReadDir(filepath.Dir(name)) // a hint, where it can be had
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if near := Nearest(filepath.Base(name), names); near != "" {
			hint = fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(name), near))
		}
	case errors.Is(err, fs.ErrPermission):
		err = errors.New("may not be read")
	}
	return &Unreadable{Name: name, Err: err, hint: hint}
}

// open unpacks, finds the format, and reads the head.
func (s *Source) open(in io.Reader, name string, o Options) error {
	r := bufio.NewReaderSize(&counter{in, &s.read}, 64<<10)
	ext := strings.ToLower(name)
	r, packed, err := s.unpack(r, ext)
	if err != nil {
		return err
	}
	ext = strings.TrimSuffix(ext, packed)
	if err := s.skipMark(r); err != nil {
		return err
	}
	first, err := firstByte(r)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return &Unreadable{Name: s.name, Err: errors.New("is empty"), hint: "CSV begins with a line that names the columns; JSON Lines has an object a line"}
		}
		return s.readError(err, 0)
	}
	format := o.Format
	if format == Auto {
		switch filepath.Ext(ext) {
		case ".csv", ".tsv", ".txt":
			format = CSV
		case ".jsonl", ".ndjson", ".json":
			format = JSONLines
		default:
			format = CSV
			if first == '{' {
				format = JSONLines
			}
		}
	}
	switch {
	case format == CSV:
		comma := o.Delimiter
		if comma == 0 {
			comma = ','
			if filepath.Ext(ext) == ".tsv" {
				comma = '\t'
			}
		}
		s.rows, err = newCSV(s, r, comma)
		return err
	case first == '[':
		return &Unreadable{Name: s.name, Line: 1, Err: errors.New("is a JSON array; an object a line is wanted (JSON Lines)"), hint: "jq -c '.[]' makes one of the other"}
	}
	s.rows = newJSONLines(s, r)
	return nil
}

// unpack undoes compression; packed is the extension that said so.
func (s *Source) unpack(r *bufio.Reader, ext string) (_ *bufio.Reader, packed string, err error) {
	magic, _ := r.Peek(4) // what is shorter is not packed
	isGzip := len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b
	isZstd := string(magic) == "\x28\xb5\x2f\xfd"
	switch e := filepath.Ext(ext); e {
	case ".gz", ".zst", ".zstd":
		packed = e
	}
	switch {
	case isGzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, "", s.readError(err, 0)
		}
		return bufio.NewReaderSize(z, 64<<10), packed, nil
	case isZstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, "", s.readError(err, 0)
		}
		s.close = append(s.close, z.Close)
		return bufio.NewReaderSize(z, 64<<10), packed, nil
	case packed != "" && len(magic) > 0:
		return nil, "", &Unreadable{Name: s.name, Err: fmt.Errorf("is not what its name says (%s)", packed), hint: "rename it after what it holds"}
	case string(magic) == "PAR1":
		return nil, "", &Unreadable{Name: s.name, Err: errors.New("is Parquet, which is not read here"), hint: "make CSV of it: duckdb -c \"COPY 'file.parquet' TO 'file.csv'\""}
	}
	return r, packed, nil
}

// skipMark passes over the byte order mark of UTF-8 and refuses the others.
func (s *Source) skipMark(r *bufio.Reader) error {
	mark, _ := r.Peek(3) // what is shorter has none
	switch {
	case string(mark) == "\xef\xbb\xbf":
		_, _ = r.Discard(3) // is buffered
	case len(mark) >= 2 && (string(mark[:2]) == "\xff\xfe" || string(mark[:2]) == "\xfe\xff"):
		return &Unreadable{Name: s.name, Line: 1, Err: errors.New("is UTF-16; UTF-8 is wanted"), hint: "iconv -f UTF-16 -t UTF-8 makes one of the other"}
	}
	return nil
}

// firstByte is the first that is no white space. It looks at most as far as the
// buffer reaches.
func firstByte(r *bufio.Reader) (byte, error) {
	for n := 1; ; n++ {
		b, err := r.Peek(n)
		if len(b) < n {
			if errors.Is(err, bufio.ErrBufferFull) {
				return 0, nil
			}
			return 0, err
		}
		switch c := b[n-1]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c, nil
		}
	}
}

// readError explains an error of the reader below.
func (s *Source) readError(err error, line int) error {
	u := &Unreadable{Name: s.name, Line: line, Err: err}
	switch {
	case errors.Is(err, errTooLong):
		u.hint = "is a quote not closed, or the line end missing?"
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.Err, u.hint = errors.New("the compressed data end too early"), "the file is cut short: copy it again"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, zstd.ErrMagicMismatch):
		u.Err, u.hint = fmt.Errorf("the compressed data are damaged (%w)", err), "copy the file again"
	}
	return u
}

// Name is the file's name, for people.
func (s *Source) Name() string { return s.name }

// Line is where the row that Next gave last begins.
func (s *Source) Line() int { return s.rows.line() }

// Progress is how many bytes of the file have been read, and how many it has, 0
// where that is not known. It may be called from another goroutine.
func (s *Source) Progress() (read, size int64) { return s.read.Load(), s.size }

// Close closes the file.
func (s *Source) Close() {
	for _, f := range s.close {
		f()
	}
	s.close = nil
}

// Select says which columns Next gives, in this order.
func (s *Source) Select(columns []string) error {
	names, line, err := s.rows.columns()
	if err != nil {
		return err
	}
	has := make(map[string]bool, len(names))
	for _, n := range names {
		has[n] = true
	}
	for _, c := range columns {
		if !has[c] {
			return &UnknownColumn{Name: s.name, Line: line, Column: c, Columns: names}
		}
	}
	return s.rows.choose(columns)
}

// Next is the selected columns of the next row, in a slice that is good until the
// next call; io.EOF at the end, *BadRow for a row that cannot be read.
func (s *Source) Next() ([]string, error) { return s.rows.next() }

// bad is a *BadRow of this file.
func (s *Source) bad(line int, format string, args ...any) error {
	return &BadRow{Name: s.name, Line: line, Reason: fmt.Sprintf(format, args...)}
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

var errTooLong = fmt.Errorf("a record has more than %d MB", MaxRecord>>20)
