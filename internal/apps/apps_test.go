// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/shardrules"
)

// events are a run as test2json prints it: NAME is how, in the order of their ends.
func events(last string, ended ...string) io.Reader {
	var b strings.Builder
	for _, e := range ended {
		test, how, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, `{"Action":"run","Test":%q}`+"\n", test)
		if how != "" {
			fmt.Fprintf(&b, `{"Action":%q,"Test":%q}`+"\n", how, test)
		}
	}
	fmt.Fprintf(&b, `{"Action":%q}`+"\n", last)
	return strings.NewReader(b.String())
}

func TestCountsTheInnermost(t *testing.T) {
	r, err := read(events("fail", "TestA fail", "TestA/one pass", "TestA/two fail", "TestA/two/deep fail", "TestB pass", "TestC skip", "TestD fail", "TestD/only pass", "TestE "), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"TestA/two/deep", "TestD", "TestE"}; r.Passed != 3 || !slices.Equal(r.Failed, want) || !slices.Equal(r.Skipped, []string{"TestC"}) {
		t.Errorf("got %+v, want 3 passed and the failures %v", r, want)
	}
}

func TestNoRunWithoutTests(t *testing.T) {
	for _, run := range []io.Reader{events("pass"), events("fail"), events("fail", "TestA pass"), strings.NewReader(`{"Action":"run","Test":"TestA"}{"Action":"pass","Test":"TestA"}`)} {
		if r, err := read(run, io.Discard); err == nil {
			t.Errorf("%+v is taken for a run", r)
		}
	}
}

func TestSurprises(t *testing.T) {
	a := &application{Explained: []explanation{
		{Settings: []string{door}, Tests: []string{"TestA/*"}},
		{Settings: []string{door}, Tests: []string{"TestLeft/Out"}, LeftOut: true},
		{Settings: []string{door}, Tests: []string{"TestRacy"}, Racy: true},
	}}
	for _, c := range []struct {
		setting string
		failed  []string
		want    int
	}{
		{door, []string{"TestA/one", "TestA/two"}, 0},
		{door, []string{"TestA/one", "TestRacy"}, 0},
		{door, []string{"TestA/one", "TestLeft/Out"}, 1}, // it was to be left out
		{door, nil, 1},
		{door, []string{"TestA/one", "TestB"}, 1},
		{engine, []string{"TestA/one"}, 1},
	} {
		if got := a.surprises(c.setting, &result{Failed: c.failed}); len(got) != c.want {
			t.Errorf("%s, %v: %q, want %d", c.setting, c.failed, got, c.want)
		}
	}
	if got := a.leftOut(door); got != "^TestLeft$/^Out$" {
		t.Errorf("left out: %s", got)
	}
}

func TestApplications(t *testing.T) {
	for _, a := range applications {
		t.Run(a.Name, func(t *testing.T) {
			for _, rules := range []string{a.Rules, a.DoorRules} {
				if _, err := shardrules.Parse("rules", []byte(rules)); err != nil {
					t.Error(err)
				}
			}
			pinned, err := os.ReadFile(filepath.Join(a.Name, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(pinned), a.Module+" v") {
				t.Errorf("%s/go.mod does not pin %s", a.Name, a.Module)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(name, []byte("# Head\n\n"+from+"old\n"+to+"\nTail\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []row{{Version: "v1", Package: "p", Results: map[string]*result{engine: {Passed: 2, Failed: []string{"TestA"}}}, app: &application{}, Application: "App"}}
	if err := update(name, markdown(rows)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.HasPrefix(s, "# Head\n\n"+from) || !strings.HasSuffix(s, to+"\nTail\n") || strings.Contains(s, "old") || !strings.Contains(s, "| App v1 | `p` | not run | 2 of 3 | not run |") {
		t.Errorf("the document is now:\n%s", s)
	}
	if err := update(name, "again"); err != nil {
		t.Error(err)
	}
}
