// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type options struct {
	evenkeel string
	only     string
	update   bool
	logs     string
	json     bool
	chosen   []*application
}

func main() {
	var o options
	flag.StringVar(&o.evenkeel, "evenkeel", "", "the evenkeel binary")
	flag.StringVar(&o.only, "only", "", "the only setting to run in, one of: "+strings.Join(settings, "; "))
	flag.BoolVar(&o.update, "update", false, "keep the results in internal/apps/results.json, and write docs/applications.md from it")
	flag.StringVar(&o.logs, "logs", "", "folder for what the tests print; without it only the end of a failed run is shown")
	flag.BoolVar(&o.json, "json", false, "print the results as JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "apps:", err)
		os.Exit(1)
	}
}

func (o *options) check(names []string) error {
	if o.evenkeel == "" {
		return errors.New("-evenkeel is needed; `make test-apps` gives it")
	}
	if o.only != "" && !slices.Contains(settings, o.only) {
		return fmt.Errorf("there is no setting %q; choose one of: %s", o.only, strings.Join(settings, "; "))
	}
	if len(names) == 0 {
		o.chosen = applications
	}
	for _, n := range names {
		found := false
		for _, a := range applications {
			if a.Name == n || a.folder() == n {
				o.chosen, found = append(o.chosen, a), true
			}
		}
		if !found {
			return fmt.Errorf("there is no application %q here; they are folders of internal/apps", n)
		}
	}
	return nil
}

func run(ctx context.Context, o options, names []string) error {
	if err := o.check(names); err != nil {
		return err
	}
	evenkeel, err := filepath.Abs(o.evenkeel)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "evenkeel-apps-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.logs == "" {
		o.logs = dir
	} else if err := os.MkdirAll(o.logs, 0o755); err != nil {
		return err
	}
	s := &servers{evenkeel: evenkeel, dir: dir}
	defer s.close()
	var rows []row
	surprises := 0
	for _, a := range o.chosen {
		r, err := s.all(ctx, a, o)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Title, err)
		}
		rows, surprises = append(rows, r), surprises+len(r.Surprises)
	}
	if o.json {
		err = json.NewEncoder(os.Stdout).Encode(rows)
	} else {
		_, err = fmt.Print(markdown(rows))
	}
	switch {
	case err != nil:
		return err
	case surprises > 0:
		return fmt.Errorf("%d tests did not go as they are said to", surprises)
	case o.update:
		return update(filepath.Join("internal", "apps", "results.json"), filepath.Join("docs", "applications.md"), rows)
	}
	return nil
}

// all runs an application's tests in all settings.
func (s *servers) all(ctx context.Context, a *application, o options) (row, error) {
	begun := time.Now()
	progress("%s: compiling its tests", a.Title)
	tests, err := compile(ctx, a, filepath.Join("internal", "apps"), s.dir)
	if err != nil {
		return row{}, err
	}
	progress("%s %s: compiled after %.0f s", a.Title, tests.version, time.Since(begun).Seconds())
	r := row{Application: a.Title, Version: tests.version, API: a.API, Package: a.importPath(), Results: map[string]*result{}, app: a}
	for _, setting := range settings {
		if o.only != "" && setting != o.only {
			continue
		}
		if a.cannot(setting) {
			continue
		}
		begun := time.Now()
		name := filepath.Join(o.logs, a.Name+"-"+strings.ReplaceAll(setting, ", ", "-")+".log")
		res, err := s.once(ctx, tests, setting, name)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w\n%s", setting, err, end(name))
		}
		r.Results[setting] = res
		progress("%s, %s: %d of %d tests passed, %d skipped, %.0f s", a.Title, setting, res.Passed, res.Passed+len(res.Failed), len(res.Skipped), time.Since(begun).Seconds())
		found := a.surprises(setting, res)
		for _, f := range found {
			progress("  %s", f)
			r.Surprises = append(r.Surprises, setting+": "+f)
		}
		if len(found) > 0 && o.logs == s.dir {
			progress("%s", end(name))
		}
	}
	return r, nil
}

func (s *servers) once(ctx context.Context, tests *suite, setting, name string) (*result, error) {
	e, stop, err := s.start(ctx, tests.app, setting)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(name)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	defer log.Close()
	res, err := tests.run(ctx, setting, e, log)
	return res, errors.Join(err, stop())
}

// end returns the end of a file, for a message.
func end(name string) string {
	const most = 8000
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		f.Seek(max(0, size-most), io.SeekStart)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
