// SPDX-License-Identifier: Apache-2.0

// Command workbench measures how fast the workbench reads, in comparison with DuckDB on generated
// orders, and prints ratios: `make bench-workbench`.
//
// Both profile the columns and measure the same partition keys, from CSV and from Parquet of the same
// rows, each in its own process, one after the other. DuckDB runs SUMMARIZE and, for each key, one
// GROUP BY with the twenty largest, on the file itself and, for comparison, on a table into which
// the file was loaded first. evenkeel computes more for each key (lost rows, bytes, percentiles,
// tokens, the busiest second), with less memory, and gives intervals where DuckDB counts exactly.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	bench "github.com/evenkeel/evenkeel/internal/bench/measure"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

//go:embed duck.py
var duck string

type options struct {
	rows    int
	threads int
	python  string
	dir     string
	one     string
	cpu     string
	ours    bool
}

func main() {
	var o options
	flag.IntVar(&o.rows, "rows", 10_000_000, "rows to generate")
	flag.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "threads of each")
	flag.StringVar(&o.python, "python", "", "a Python that has the duckdb package")
	flag.StringVar(&o.dir, "dir", "", "where the data go, and stay; by default a temporary folder that does not")
	flag.StringVar(&o.one, "one", "", "profile and measure this file, and end (what the processes run)")
	flag.StringVar(&o.cpu, "cpuprofile", "", "with -one, a profile of it")
	flag.BoolVar(&o.ours, "ours", false, "leave DuckDB out, but for making Parquet")
	bench.Main(func(ctx context.Context) error {
		if o.one != "" {
			return one(ctx, o)
		}
		return compare(ctx, o)
	})
}

// one profiles and measures a file.
func one(ctx context.Context, o options) error {
	runtime.GOMAXPROCS(o.threads)
	if o.cpu != "" {
		f, err := os.Create(o.cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	src, err := rows.Open(o.one, rows.Options{Again: true})
	if err != nil {
		return err
	}
	defer src.Close()
	begun := time.Now()
	p, err := profile.Of(ctx, src, profile.Options{})
	if err != nil {
		return err
	}
	profiled := time.Since(begun)
	measured, _, err := profile.Measure(ctx, src, p, candidates(), profile.Options{})
	if err != nil {
		return err
	}
	fmt.Printf("%d rows, %d columns profiled in %.1f s, %d keys measured in %.1f s", p.Rows, len(p.Columns), profiled.Seconds(), len(measured), (time.Since(begun) - profiled).Seconds())
	return nil
}

// figures are the resources that a process used.
type figures struct {
	wall, cpu time.Duration
	memory    int64
	said      string
}

func compare(ctx context.Context, o options) error {
	if o.python == "" {
		return fmt.Errorf("-python is needed; `make bench-workbench` gives it")
	}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "bench-workbench-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	csv, parquet := filepath.Join(o.dir, fmt.Sprintf("orders-%d.csv", o.rows)), filepath.Join(o.dir, fmt.Sprintf("orders-%d.parquet", o.rows))
	if _, err := os.Stat(csv); err != nil {
		fmt.Fprintf(os.Stderr, "writing %s\n", csv)
		if err := write(csv, o.rows); err != nil {
			return err
		}
	}
	if _, err := os.Stat(parquet); err != nil {
		fmt.Fprintf(os.Stderr, "writing %s\n", parquet)
		if _, err := measure(ctx, "", o.python, "-c", duck, "parquet", csv, parquet); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	keys := candidates()
	var lines []string
	for _, c := range keys {
		lines = append(lines, sql(c))
	}
	fmt.Printf("%d rows, %d keys, %d threads\n\n", o.rows, len(keys), o.threads)
	fmt.Printf("%-30s %9s %9s %9s\n", "", "wall", "CPU", "memory")
	threads := fmt.Sprint(o.threads)
	for _, file := range []string{csv, parquet} {
		kind := strings.TrimPrefix(filepath.Ext(file), ".")
		ours, err := measure(ctx, "", self, "-one", file, "-threads", threads)
		if err != nil {
			return err
		}
		show(kind+", evenkeel", ours)
		if o.ours {
			continue
		}
		for _, how := range []string{"file", "table"} {
			theirs, err := measure(ctx, strings.Join(lines, "\n"), o.python, "-c", duck, threads, how, file)
			if err != nil {
				return err
			}
			name := map[string]string{"file": "DuckDB on the file", "table": "DuckDB, loaded first"}[how]
			show(kind+", "+name, theirs)
			fmt.Printf("%-30s %8.2f× its speed, %.2f× by CPU, %.2f× its memory\n", "  evenkeel has", ratio(theirs.wall, ours.wall), ratio(theirs.cpu, ours.cpu), float64(ours.memory)/float64(theirs.memory))
		}
	}
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func show(name string, f figures) {
	fmt.Printf("%-30s %7.1f s %7.1f s %6.0f MB  %s\n", name, f.wall.Seconds(), f.cpu.Seconds(), float64(f.memory)/1e6, f.said)
}

// measure runs a process to its end.
func measure(ctx context.Context, in, name string, args ...string) (figures, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(in), os.Stderr
	begun := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	f := figures{wall: time.Since(begun), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), said: strings.TrimSpace(string(out))}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.memory = int64(usage.Maxrss) * 1024
	}
	return f, nil
}
