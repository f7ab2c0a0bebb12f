// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// MaxRecord is the greatest length of a record, in bytes.
const MaxRecord = 16 << 20

// Format says how rows are written.
type Format string

const (
	Auto      Format = ""        // decided by the file's content and name
	CSV       Format = "csv"     // RFC 4180, or with cqlsh's backslashes
	JSONLines Format = "jsonl"   // one object a line
	Parquet   Format = "parquet" // Apache Parquet; lists and maps are left out
)

// Header says whether the first record of CSV names the columns.
type Header uint8

const (
	GuessHeader Header = iota // it does, unless it has a number, a date, a UUID …
	HasHeader
	NoHeader // columns are c1, c2, … or Options.Names
)

// Options says what the file does not say.
type Options struct {
	Format    Format
	Delimiter rune      // of CSV: one ASCII character; 0: guessed among comma, tab, semicolon and bar
	Header    Header    // of CSV
	Names     []string  // of the columns of CSV without a header
	Again     bool      // Scan is called more than once: standard input is kept in a temporary file
	Stdin     io.Reader // what "-" reads; nil: os.Stdin
	Name      string    // the name of "-"; default: standard input

	// Interrupt, if not nil, ends the wait for standard input, or for other data that are not a
	// plain file, when it is closed: Open fails, and a scan is Partial.
	Interrupt <-chan struct{}
}

// Source is an open file of rows. It is for one goroutine, except for Progress, and runs one scan
// at a time.
type Source struct {
	name  string // for messages
	path  string
	data  []byte // all data, if they are in memory
	size  int64  // of the file; 0: unknown
	read  atomic.Int64
	close []func()

	format  format
	packing string  // "gzip", "zstd" or ""
	first   *stream // open, and not scanned yet
	spool   *os.File
}

// format is a way of writing rows.
type format interface {
	// columns returns the columns known so far. It is safe for concurrent use.
	columns() ([]Column, int)
	// describe says how the rows are written, for people.
	describe() string
	// scan begins to read all rows. columns are the chosen ones; nil: all.
	scan(columns []string) (feed, error)
}

// feed is one pass over the rows.
type feed interface {
	// next takes the next piece of the data; io.EOF at the end. Calls do not overlap.
	next(w *work) error
	// parse passes the rows of that piece to each. Calls may overlap, each with its own work.
	parse(w *work, each func(*Batch) error) error
	close()
}

// work is what a goroutine needs for a piece.
type work struct {
	seq    int // of the piece's first batch
	line   int // where the piece begins
	data   []byte
	lines  int // in data
	batch  Batch
	parser any // of the format
	part   int // of Parquet
}

// Open opens a file, or standard input for "-".
func Open(name string, o Options) (*Source, error) {
	s := &Source{name: name, path: name}
	var in io.Reader
	switch {
	case name == "-":
		s.name, s.path = "standard input", ""
		if in = o.Stdin; in == nil {
			in = os.Stdin
		}
		if o.Name != "" {
			s.name = o.Name
		}
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, openError(name, err)
		}
		st, err := f.Stat()
		if err == nil && st.IsDir() {
			err = errors.New("is a folder")
		}
		if err != nil {
			f.Close()
			return nil, &Unreadable{Name: name, Err: err, hint: "give one file of rows"}
		}
		if st.Mode().IsRegular() {
			s.size = st.Size()
		} else {
			s.path = ""
		}
		s.close = append(s.close, func() { f.Close() })
		in = f
	}
	if s.path == "" && o.Interrupt != nil {
		in = newInterruptible(in, o.Interrupt)
	}
	if err := s.open(in, name, o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// OpenBytes opens rows that are in memory, and writes nothing to a disk. name is for messages, and
// its extension names the format. data must not change until Close.
func OpenBytes(name string, data []byte, o Options) (*Source, error) {
	s := &Source{name: name, data: data, size: int64(len(data))}
	o.Again = false // data can be read again
	if err := s.open(bytes.NewReader(data), name, o); err != nil {
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
		entries, _ := os.ReadDir(filepath.Dir(name)) // only a hint: an error does not matter
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if near := Nearest(filepath.Base(name), names); near != "" {
			hint = fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(name), near))
		}
		for _, live := range []string{"cql://HOST/KEYSPACE.TABLE", "dynamodb://HOST:PORT/TABLE"} {
			if scheme, _, _ := strings.Cut(live, "://"); strings.HasPrefix(name, scheme+":") {
				hint = "a live table is " + live
			}
		}
	case errors.Is(err, fs.ErrPermission):
		err = errors.New("may not be read")
	}
	return &Unreadable{Name: name, Err: err, hint: hint}
}

// open finds the format, and reads the head.
func (s *Source) open(in io.Reader, name string, o Options) error {
	if o.Again && s.path == "" {
		f, err := os.CreateTemp("", "evenkeel-rows-*")
		if err != nil {
			return &Unreadable{Name: s.name, Err: fmt.Errorf("cannot be kept for a second reading: %w", err), hint: "TMPDIR names a folder with room for it"}
		}
		_ = os.Remove(f.Name()) // the file exists until it is closed, if the system allows it
		s.spool = f
		s.close = append(s.close, func() { f.Close(); _ = os.Remove(f.Name()) })
		in = io.TeeReader(in, f)
	}
	ext := strings.ToLower(name)
	st, err := s.unpack(in, &ext)
	if err != nil {
		return err
	}
	if st.parquet() || o.Format == Parquet {
		return s.openParquet(in, st)
	}
	if err := st.skipMark(); err != nil {
		return err
	}
	first, err := st.firstByte()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return &Unreadable{Name: s.name, Err: errors.New("is empty"), hint: "CSV has a record a line; JSON Lines has an object a line"}
		}
		return s.readError(err, 0)
	}
	s.first = st
	format := o.Format
	if format == Auto {
		switch filepath.Ext(ext) {
		case ".csv", ".tsv", ".txt":
			format = CSV
		case ".jsonl", ".ndjson", ".json":
			format = JSONLines
		case ".parquet", ".pq":
			return s.notParquet()
		default:
			format = CSV
			if first == '{' {
				format = JSONLines
			}
		}
	}
	switch {
	case format == CSV:
		s.format, err = newCSV(s, st, o, filepath.Ext(ext) == ".tsv")
	case first == '[':
		err = &Unreadable{Name: s.name, Line: 1, Err: errors.New("is a JSON array; an object a line is wanted (JSON Lines)"), hint: "jq -c '.[]' makes one of the other"}
	default:
		s.format, err = newJSONLines(s, st)
	}
	return err
}

// Name returns the file's name, for people.
func (s *Source) Name() string { return s.name }

// Describe says how the rows are written, as far as it was found: "CSV, fields parted by ';', with
// a header, gzip".
func (s *Source) Describe() string {
	if s.packing == "" {
		return s.format.describe()
	}
	return s.format.describe() + ", " + s.packing
}

// Columns returns the columns known so far. Reading JSON Lines may add columns behind these.
func (s *Source) Columns() []Column {
	c, _ := s.format.columns()
	return c
}

// Progress returns how many bytes of the file this scan has read, and how many the file has; 0:
// unknown. Another goroutine may call it.
func (s *Source) Progress() (read, size int64) { return s.read.Load(), s.size }

// Close closes the file.
func (s *Source) Close() {
	if s.first != nil {
		s.first.close()
	}
	for _, f := range s.close {
		f()
	}
	s.close, s.first = nil, nil
}

// chosen returns an error if a column does not exist.
func (s *Source) chosen(columns []string) error {
	has, line := s.format.columns()
	known := make(map[string]bool, len(has))
	names := make([]string, len(has))
	for i, c := range has {
		known[c.Name], names[i] = true, c.Name
	}
	for _, c := range columns {
		if !known[c] {
			return &UnknownColumn{Name: s.name, Line: line, Column: c, Columns: names}
		}
	}
	return nil
}

var errTooLong = fmt.Errorf("a record has more than %d MB", MaxRecord>>20)
