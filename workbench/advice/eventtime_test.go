// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"testing"
	"time"
)

// TestEventTimeByValues checks that the values and the queries decide which column says when rows
// were written, whatever the columns are called.
func TestEventTimeByValues(t *testing.T) {
	begin := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	const asked = "SELECT * FROM t WHERE k = ? -- 5/s\nINSERT INTO t (k) VALUES (?) -- 5/s"
	for _, c := range []struct {
		what   string
		values func(i int) [2]string // of a and b; a is the time of writing
	}{
		{"birthdays", func(i int) [2]string {
			return [2]string{begin.Add(time.Duration(i) * time.Minute).Format(time.RFC3339), begin.AddDate(-20, 0, -i*7919%9000).Format(time.DateOnly)}
		}},
		{"when they end", func(i int) [2]string {
			at := begin.Add(time.Duration(i) * time.Minute)
			return [2]string{at.Format(time.RFC3339), at.AddDate(0, 1, 0).Format(time.RFC3339)}
		}},
		{"when they changed, in no order", func(i int) [2]string {
			at := begin.Add(time.Duration(i*7919%4000) * time.Minute)
			return [2]string{at.Format(time.RFC3339), at.Add(time.Duration(1+i%50) * time.Hour).Format(time.RFC3339)}
		}},
	} {
		for _, names := range [][]string{{"k", "created_at", "other"}, {"k", "expires_at", "created_at"}, {"k", "birthday", "event_time"}, {"k", "c1", "c2"}} {
			tb := &table{names: names}
			for i := range 4000 {
				v := c.values(i)
				tb.rows = append(tb.rows, []string{fmt.Sprint("k", i%40), v[0], v[1]})
			}
			if got := adviseFile(t, tb, asked, Options{}).EventTime; got != names[1] {
				t.Errorf("%s, columns %v: %s is taken", c.what, names, got)
			}
		}
	}
}
