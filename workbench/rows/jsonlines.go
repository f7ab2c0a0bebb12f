package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonRows reads JSON Lines.
type jsonRows struct {
	s      *Source
	r      *bufio.Reader
	buf    []byte // the current line
	again  bool   // the current line is to be read once more
	at     int
	names  []string
	values []string
	object map[string]json.RawMessage
	failed error
}

func newJSONLines(s *Source, r *bufio.Reader) *jsonRows {
	return &jsonRows{s: s, r: r, object: make(map[string]json.RawMessage)}
}

func (j *jsonRows) line() int { return j.at }

// columns are the names of the first object.
func (j *jsonRows) columns() ([]string, int, error) {
	if !j.again {
		if err := j.readLine(); err != nil {
			if errors.Is(err, io.EOF) {
				err = &Unreadable{Name: j.s.name, Err: errors.New("has no rows"), hint: "JSON Lines has an object a line"}
			}
			return nil, 0, err
		}
	}
	if err := j.parse(); err != nil {
		return nil, 0, err
	}
	j.again = true
	return slices.Sorted(maps.Keys(j.object)), j.at, nil
}

func (j *jsonRows) choose(names []string) error {
	j.names = names
	j.values = make([]string, len(names))
	return nil
}

func (j *jsonRows) next() ([]string, error) {
	if j.failed != nil {
		return nil, j.failed
	}
	if !j.again {
		if err := j.readLine(); err != nil {
			return nil, err
		}
	}
	j.again = false
	if err := j.parse(); err != nil {
		return nil, err
	}
	for i, name := range j.names {
		raw, has := j.object[name]
		if !has {
			return nil, j.s.bad(j.at, "there is no field %q", name)
		}
		v, err := scalar(raw)
		if err != nil {
			return nil, j.s.bad(j.at, "field %q %v", name, err)
		}
		j.values[i] = v
	}
	return j.values, nil
}

// scalar is the text of a JSON string, number or truth value.
func scalar(raw json.RawMessage) (string, error) {
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", err
		}
		return s, nil
	case '{':
		return "", errors.New("is an object, which is no value of a key")
	case '[':
		return "", errors.New("is an array, which is no value of a key")
	case 'n':
		return "", errors.New("is null")
	}
	return string(raw), nil
}

func (j *jsonRows) parse() error {
	switch {
	case !utf8.Valid(j.buf):
		return j.s.bad(j.at, "is not UTF-8")
	case bytes.TrimLeft(j.buf, " \t\r")[0] != '{':
		return j.s.bad(j.at, "is no JSON object")
	}
	clear(j.object)
	if err := json.Unmarshal(j.buf, &j.object); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return j.s.bad(j.at, "is no JSON object")
		}
		return j.s.bad(j.at, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// readLine reads the next line that is not blank into buf.
func (j *jsonRows) readLine() error {
	for {
		j.buf = j.buf[:0]
		j.at++
		for {
			part, err := j.r.ReadSlice('\n')
			if len(j.buf)+len(part) > MaxRecord {
				j.failed = j.s.readError(fmt.Errorf("%w", errTooLong), j.at)
				return j.failed
			}
			j.buf = append(j.buf, part...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && (!errors.Is(err, io.EOF) || len(j.buf) == 0) {
				j.failed = err
				if !errors.Is(err, io.EOF) {
					j.failed = j.s.readError(err, j.at)
				}
				return j.failed
			}
			break
		}
		if len(bytes.TrimSpace(j.buf)) > 0 {
			return nil
		}
	}
}
