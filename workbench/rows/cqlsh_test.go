// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"reflect"
	"slices"
	"testing"
)

// TestCqlshCopy reads files that COPY TO of cqlsh 6.2 and Cassandra 5.0.9 wrote. (In texts, cqlsh
// itself writes \n for a line end and doubles backslashes, before CSV doubles them again. They are
// read here in that form, too.)
func TestCqlshCopy(t *testing.T) {
	want := map[string]string{
		"plain": "abc", `say "hi", he said`: `two\nlines`, `back\\slash`: `tab\tx`, `ends with \\`: "", "semi;colon|bar": `"`, "été ☃": "it's", "007": `\r\n`, "null": "", "comma,": `\\"`,
	}
	for _, c := range []struct{ file, key, text, m, describe string }{
		{"testdata/cqlsh_header.csv", "k", "v", "m", "CSV, fields parted by commas, a header, quotes escaped by a backslash"},
		{"testdata/cqlsh_no_header.csv", "c1", "c17", "c12", "CSV, fields parted by commas, no header, quotes escaped by a backslash (its first record has values: columns are c1, c2, …)"},
	} {
		src, err := Open(c.file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if src.Describe() != c.describe || len(src.Columns()) != 17 {
			t.Errorf("%s is %s, of %d columns", c.file, src.Describe(), len(src.Columns()))
		}
		got := make(map[string]string)
		scanned, err := src.Scan(t.Context(), ScanOptions{Workers: 1, Columns: []string{c.key, c.text, c.m}}, func(_ int, b *Batch) error {
			for _, row := range texts(b) {
				got[row[1]] = row[2]
				if row[3] != "{'a': 1, 'b': 2}" {
					t.Errorf("%s: %q", c.file, row)
				}
			}
			return nil
		})
		if err != nil || scanned.Bad > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %+v, %v", c.file, got, scanned, err)
		}
	}
	// With the names that it lacks, the second file equals the first.
	names := []string{"k", "c", "at", "b", "big", "d", "day", "du", "f", "ip", "l", "m", "ok", "tod", "tu", "u", "v"}
	src, err := Open("testdata/cqlsh_no_header.csv", Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if !slices.EqualFunc(src.Columns(), names, func(c Column, name string) bool { return c.Name == name }) {
		t.Errorf("%v", src.Columns())
	}
}
