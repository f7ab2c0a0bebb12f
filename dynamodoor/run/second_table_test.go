// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// until takes steps of the change of table Tab until it is in one.
func until(t *testing.T, r *Router, step string) {
	t.Helper()
	for stepOf(r) != step {
		if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestASecondTableThatIsNotDeletedYet checks that a table whose second physical table could not be deleted
// is deleted with the next DeleteTable. If the door has died meanwhile, the next door deletes it.
func TestASecondTableThatIsNotDeletedYet(t *testing.T) {
	for _, dies := range []bool{false, true} {
		store := &altered{Backend: start(t, 1).store}
		r := again(t, store, 1)
		must(t, r, "CreateTable", plainTable+"}")
		must(t, r, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"2026-11-25T10:00:00Z"}}}`)
		must(t, r, "TagResource", tagWith("strategy=time bucket=1h"))
		until(t, r, "closing")
		second := r.tables.Entry("Tab").Change.Second
		must(t, store, "DeleteTable", deleteTab) // not through the door
		refused, dead := exception.New(exception.LimitExceeded, "too many tables are being deleted"), false
		store.answer = func(_ context.Context, q api.Request) (error, bool) {
			d, is := q.(*api.DeleteTable)
			is = is && d.Table == second
			dead = dead || is && dies
			return refused, dead || is
		}
		store.do = func(_ context.Context, _ string, _, dst []byte) ([]byte, error, bool) { return dst, refused, dead }
		fails(t, r, exception.InternalServerError, "too many tables", "DeleteTable", deleteTab)
		store.answer, store.do = nil, nil
		if dies {
			r = again(t, store, 1)
		}
		fails(t, r, exception.ResourceNotFound, "", "DeleteTable", deleteTab)
		if names := fmt.Sprint(must(t, store, "ListTables", `{}`)["TableNames"]); names != "[evenkeel evenkeel.buckets]" {
			t.Errorf("the store has the tables %s", names)
		}
		if left := must(t, store, "Scan", `{"TableName":"evenkeel.buckets"}`); !dies && left["Count"] != 0.0 {
			t.Errorf("the directory has %v", left["Items"])
		}
		must(t, r, "CreateTable", plainTable+"}")
	}
}

// TestAPositionOfALaterGeneration checks that a Scan goes on, or is invalid, if its position is from a
// change that was taken back, or from an earlier table of the same name.
func TestAPositionOfALaterGeneration(t *testing.T) {
	for _, doors := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			r, store := startHasty(t)
			all := []*Router{r}
			if doors == 2 {
				all = []*Router{doorOn(t, store, time.Second), doorOn(t, store, time.Second)}
				r = all[0]
			}
			create := func() {
				must(t, r, "CreateTable", plainTable+"}")
				for i := range 10 {
					must(t, r, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%03d"}}}`, i))
				}
				must(t, r, "TagResource", changeTo(3))
			}
			position := func() string {
				last := jsonOf(t, must(t, r, "Scan", `{"TableName":"Tab","Limit":5}`)["LastEvaluatedKey"].(map[string]any))
				if !strings.Contains(last, "evenkeel.began") {
					t.Fatalf("no position of a change: %s", last)
				}
				return last
			}
			goesOn := func(from string) {
				t.Helper()
				for _, door := range all {
					m, err := do(door, "Scan", `{"TableName":"Tab","ExclusiveStartKey":`+from+`}`)
					if err != nil && exception.Of(err).Kind != exception.Validation || err == nil && m["Count"] != 5.0 {
						t.Errorf("%d doors, in step %q: %v, %v", doors, stepOf(r), m["Count"], err)
					}
				}
			}
			create()
			until(t, r, "looking")
			from := position()
			must(t, r, "Reshard", `{"TableName":"Tab","Action":"rollback"}`)
			goesOn(from)
			until(t, r, "")
			goesOn(from)
			must(t, r, "TagResource", changeTo(3))
			goesOn(from)
			until(t, r, "looking")
			goesOn(from)
			until(t, r, "closing")
			from = position()
			until(t, r, "")
			must(t, r, "DeleteTable", deleteTab)
			create()
			goesOn(from)
			until(t, r, "looking")
			goesOn(from)
		})
	}
}
