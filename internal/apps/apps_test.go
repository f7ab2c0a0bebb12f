// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/shardrules"
)

// events returns a run as test2json prints it. Each of ended is a test's name and outcome, in the
// order of their ends.
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

// signals is a log that says when something was written to it.
type signals struct {
	once    sync.Once
	written chan struct{}
}

func (s *signals) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.written) })
	return len(b), nil
}

// TestStream checks that events are read while the tests run: the process goes on only when its
// first event has arrived.
func TestStream(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tests := exec.CommandContext(ctx, "sh", "-c", `
		echo '{"Action":"output","Output":"x"}'
		read line
		echo '{"Action":"run","Test":"TestA"}{"Action":"fail","Test":"TestA"}{"Action":"fail"}'
		exit 1`)
	in, err := tests.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := &signals{written: make(chan struct{})}
	go func() {
		select {
		case <-log.written:
		case <-ctx.Done():
		}
		in.Close()
	}()
	r, err := stream(tests, log)
	if err != nil || !slices.Equal(r.Failed, []string{"TestA"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestStreamEnds checks that a process ends whose output is not that of tests, and that a command
// that does not start is an error.
func TestStreamEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := stream(exec.CommandContext(ctx, "yes", "no event"), io.Discard); err == nil || !strings.Contains(err.Error(), "read the events") || ctx.Err() != nil {
		t.Errorf("the output is no events: %v, %v", err, ctx.Err())
	}
	if _, err := stream(exec.CommandContext(ctx, "/no/such/binary"), io.Discard); err == nil || !strings.Contains(err.Error(), "/no/such/binary") {
		t.Errorf("no binary: %v", err)
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
		{door, []string{"TestA/one", "TestLeft/Out"}, 1}, // it should have been left out
		{door, nil, 1},
		{door, []string{"TestA/one", "TestB"}, 1},
		{engine, []string{"TestA/one"}, 1},
	} {
		if got := a.surprises(c.setting, &result{Failed: c.failed}); len(got) != c.want {
			t.Errorf("%s, %v: %q, want %d", c.setting, c.failed, got, c.want)
		}
	}
	if none := (&application{Explained: []explanation{{Settings: []string{door}, Tests: []string{all}, LeftOut: true}}}); !none.cannot(door) || none.cannot(engine) || a.cannot(door) {
		t.Error("which settings cannot run")
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
			if _, err := a.pinned("."); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	file, doc := filepath.Join(t.TempDir(), "results.json"), filepath.Join(t.TempDir(), "doc.md")
	for name, text := range map[string]string{file: "[]", doc: "# Head\n\n" + from + "old\n" + to + "\nTail\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		version, setting string
		passed           int
		want             string
	}{
		{"v1", engine, 1, "| not run | 1 of 2 | not run | not run | not run |"},
		{"v1", door, 2, "| not run | 1 of 2 | not run | 2 of 3 | not run |"},
		{"v1", door, 3, "| not run | 1 of 2 | not run | 3 of 4 | not run |"},
		{"v2", reference, 4, "| 4 of 5 | not run | not run | not run | not run |"},
	} {
		run := row{Application: dynamo.Title, Version: c.version, Results: map[string]*result{c.setting: {Passed: c.passed, Failed: []string{"TestA"}}}}
		if err := update(file, doc, []row{run}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(text); !strings.HasPrefix(s, "# Head\n\n"+from) || !strings.HasSuffix(s, to+"\nTail\n") || strings.Contains(s, "old") || !strings.Contains(s, c.want) {
			t.Errorf("with %+v the document is:\n%s", c, s)
		}
	}
}

// TestDocument checks that the document shows the kept results, with the pinned versions.
func TestDocument(t *testing.T) {
	doc := filepath.Join("..", "..", "docs", "applications.md")
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := load("results.json")
	if err != nil {
		t.Fatal(err)
	}
	if want, err := document(text, markdown(rows)); err != nil || string(want) != string(text) {
		t.Errorf("%s is not what results.json says (%v): run make test-apps UPDATE=yes", doc, err)
	}
	for _, r := range rows {
		if v, err := r.app.pinned("."); err != nil || v != r.Version {
			t.Errorf("the results of %s are of %s, and %s is pinned: %v", r.Application, r.Version, v, err)
		}
	}
}
