// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/demo"
)

// TestDemo runs the whole command, with its clock as fast as possible. The writes that the tables
// accept must be within 5% of what the model of limits expects for the keys that share partitions.
func TestDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	var out, errs bytes.Buffer
	if code := run([]string{"demo", "--speed", "0", "--seconds", "4", "--listen-http", "off", "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	var r demo.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Tables) != 4 || r.Rate != 5000 || !r.Same || r.Queried != 4 || !r.Done || r.Partial || r.Speed <= 0 {
		t.Fatalf("%+v", r)
	}
	for i, expected := range []float64{1000, 1000 * float64(r.Tables[1].Occupied), 5000, 5000} {
		tb := r.Tables[i]
		if math.Abs(tb.PerSecond/expected-1) > 0.05 || math.Abs(tb.PerSecond/tb.Expected-1) > 0.05 {
			t.Errorf("%s: %.0f a second; %.0f are expected, by what was offered to each partition %.0f", tb.Title, tb.PerSecond, expected, tb.Expected)
		}
	}
	if r.Tables[3].Shards != r.Recommended || r.Tables[2].Throttled == 0 || r.Tables[3].Throttled > r.Tables[2].Throttled/10 {
		t.Errorf("%+v\n%+v", r.Tables[2], r.Tables[3])
	}
	// Nothing is left on the disk.
	for _, dir := range []string{".", os.Getenv("TMPDIR")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s has %v %v", dir, left, err)
		}
	}
}

// TestDemoText checks the text that the command prints, and the live page meanwhile.
func TestDemoText(t *testing.T) {
	var out bytes.Buffer
	errs := notice(func() {})
	said := make(chan string, 1)
	c := &demoCmd{Rate: 5000, Seconds: 1, Speed: 1000, ListenHTTP: "127.0.0.1:0"} // which no machine does
	tee := writerFunc(func(p []byte) (int, error) {
		if m := regexp.MustCompile(`http://[^/]+/demo`).FindString(string(p)); m != "" {
			said <- m
		}
		return errs.Write(p)
	})
	seen := make(chan error, 1)
	var picture error
	wait := sync.OnceFunc(func() { picture = <-seen }) // the picture is there until the result is told
	go func() {
		resp, err := http.Get(<-said + "/state")
		if err == nil {
			defer resp.Body.Close()
			var r demo.Result
			err = json.NewDecoder(resp.Body).Decode(&r)
			if err == nil && len(r.Tables) != 4 {
				err = errors.New("it has not four tables")
			}
			_, _ = io.Copy(io.Discard, resp.Body) // is read
		}
		seen <- err
	}()
	told := writerFunc(func(p []byte) (int, error) {
		wait()
		return out.Write(p)
	})
	if err := c.demo(t.Context(), &stdio{told, tee}); err != nil {
		t.Fatal(err)
	}
	if picture != nil {
		t.Errorf("the live picture: %v", picture)
	}
	for _, want := range []string{
		"5,000 writes a second of 1,000 bytes, all for InvoiceNumber 121212", "This machine cannot offer that many at that speed: the engine's clock went at", "per second of the engine's",
		"unsharded", "1 of 4", "5 shards, cold", "3.05 of 4 partitions", "← together", "5 shards, pre-warmed", "6 shards, pre-warmed", "the same list in the same order from each of the 4",
		"10 of Client10", "TableWriteKeyRangeThroughputExceeded",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) && !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestDemoInterrupted checks that a partial result is labelled, in text and in JSON, and has its
// own exit code.
func TestDemoInterrupted(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		// It is interrupted when it says that it writes, of what would take half a minute.
		err := (&demoCmd{Rate: 5000, Seconds: 30, Speed: 5, ListenHTTP: "off", JSON: asJSON}).demo(ctx, &stdio{&out, notice(cancel)})
		cancel()
		var code *coded
		if !errors.As(err, &code) || code.code != partialResult || !strings.Contains(err.Error(), "interrupted") {
			t.Fatalf("%v", err)
		}
		if !asJSON && (!strings.HasPrefix(out.String(), "PARTIAL (interrupted)") || !strings.Contains(out.String(), "not begun")) || asJSON && !strings.Contains(out.String(), `"partial": true`) {
			t.Errorf("%s", &out)
		}
	}
	var errs bytes.Buffer
	for _, args := range [][]string{{"--rate", "5"}, {"--seconds", "0"}, {"--speed", "-1"}} {
		if code := run(append([]string{"demo"}, args...), io.Discard, &errs); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}

// TestDemoClock checks that the demo says so if it cannot keep the pace, or if the user asked for
// another pace.
func TestDemoClock(t *testing.T) {
	for _, c := range []struct {
		asked, speed float64
		want         string
	}{{1, 1.01, ""}, {0, 1.01, ""}, {10, 1.01, "cannot offer"}, {1, 0.6, "cannot offer that many at that speed: the engine's clock went at 0.60"}, {10, 4, "cannot offer"}, {10, 9.9, "Time is scaled"}, {0, 1.9, "Time is scaled"}, {0, 0.5, "Time is scaled"}} {
		got := demoClock(&demo.Result{Asked: c.asked, Speed: c.speed})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
