// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// scene is a change of layout to be measured.
type scene struct {
	name     string
	from, to int  // shards; 0: a plain table
	hot      bool // the change is one key's
}

var scenes = []scene{
	{name: "8 to 16 shards", from: 8, to: 16},
	{name: "50 to 75 shards", from: 50, to: 75},
	{name: "1 to 50 shards", from: 1, to: 50},
	{name: "unsharded to 50 shards", from: 0, to: 50},
	{name: "one hot key, 1 to 64 shards", from: 1, to: 64, hot: true},
}

// result is a measured scene. Durations are in milliseconds.
type result struct {
	Name      string  `json:"name"`
	PerSecond float64 `json:"per_second"`
	Seconds   float64 `json:"seconds"` // the change took
	Requests  int     `json:"requests"`
	Failed    int     `json:"failed"`
	Before99  float64 `json:"p99_before_ms"`
	During99  float64 `json:"p99_during_ms"`
	After99   float64 `json:"p99_after_ms"`        // of the new layout, when the change has ended
	Longest   float64 `json:"longest_over_p99_ms"` // of any request during the change, over p99 before
	BeforeMax float64 `json:"longest_before_over_p99_ms"`
	Cores     float64 `json:"cores"`            // processors that the door kept busy in the quiet phase
	Relief    float64 `json:"relief_seconds"`   // from the order until reads go to the new layout
	Moved     float64 `json:"moved_of_jump"`    // rows moved, relative to what jump hash moves
	Storage   float64 `json:"storage_extra"`    // most bytes that the change adds, over those before; 0: unknown
	Rows      float64 `json:"rows_a_second"`    // rows copied and verified in a second
	ByHand    float64 `json:"by_hand_a_second"` // rows that a copy by hand copies in a second, at the same load
	Steps     []step  `json:"steps"`            // of the change

	grown growth
}

// growth is the size of the engine's files at the end of the quiet phase. They grow by the
// clients' writes alone, too.
type growth struct {
	at     time.Time
	bytes  int64
	second float64 // by which the clients' writes made them grow in a second
}

// extra returns what a change has added to the files until now, relative to their size before. It
// returns 0 if the size is unknown.
func (g *growth) extra(bytes int64) float64 {
	if g.bytes == 0 {
		return 0
	}
	return (float64(bytes-g.bytes) - g.second*time.Since(g.at).Seconds()) / float64(g.bytes)
}

// step is what the clients saw in one step of a change.
type step struct {
	Name    string  `json:"step"`
	Seconds float64 `json:"seconds"`
	P99     float64 `json:"p99_ms"`
	Longest float64 `json:"longest_ms"`
	Cores   float64 `json:"cores"` // processors that the door kept busy

	from time.Time
	cpu  time.Duration // of the door, up to the step's beginning
}

// keys is the number of partition keys of a table.
const keys = 1000

// moves returns how many rows jump hash moves in a scene.
func (b *bench) moves(s scene) (n int64) {
	rows := b.rows
	if s.hot {
		rows = b.hot
	}
	if s.from == 0 {
		return int64(rows)
	}
	from, to := &shard.Layout{N: s.from}, &shard.Layout{N: s.to}
	for c := range rows {
		if by := binary.BigEndian.AppendUint32(nil, uint32(c)); from.ShardOf(nil, by) != to.ShardOf(nil, by) {
			n++
		}
	}
	return n
}

// key returns the partition key of row c.
func (b *bench) key(s scene, c int) string {
	if s.hot && c < b.hot {
		return hotKey
	}
	return fmt.Sprintf("key-%d", c%keys)
}

const hotKey = "hot"

// play measures a scene.
func (b *bench) play(ctx context.Context, s scene) error {
	r := result{Name: s.name}
	if err := b.load(ctx, s); err != nil {
		return err
	}
	request := b.mix(s)
	short, cancel := context.WithTimeout(ctx, b.quiet/3)
	capacity := steady(short, 0, request)
	cancel()
	if capacity.failed > 0 {
		return capacity.first
	}
	rate := b.share * capacity.perSecond()
	r.PerSecond = rate
	measure.Progress("  %.0f requests a second; quiet for %s", rate, b.quiet)
	short, cancel = context.WithTimeout(ctx, b.quiet)
	used, bytes := measure.CPU(b.door.PID), b.bytes()
	before := steady(short, rate, request)
	r.Cores = (measure.CPU(b.door.PID) - used).Seconds() / before.wall.Seconds()
	cancel()
	if before.failed > 0 {
		return before.first
	}
	r.grown = growth{at: time.Now(), bytes: b.bytes()}
	r.grown.second = float64(r.grown.bytes-bytes) / before.wall.Seconds()

	during, stop := context.WithCancel(ctx)
	done := make(chan *phase, 1)
	go func() { done <- steady(during, rate, request) }()
	status, err := b.change(ctx, s, &r)
	stop()
	after := <-done
	if err != nil {
		return err
	}
	r.Requests, r.Failed = len(after.requests)+after.failed, after.failed
	if after.first != nil {
		measure.Progress("  the first request that failed: %v", after.first)
	}
	if b.trace {
		after.trace(r.Steps)
	}
	for i := range r.Steps[:len(r.Steps)-1] {
		s, next := &r.Steps[i], &r.Steps[i+1]
		of := after.between(s.from, next.from)
		s.Seconds, s.P99, s.Longest = of.wall.Seconds(), millis(of.quantile(0.99)), millis(of.quantile(1))
		s.Cores = (next.cpu - s.cpu).Seconds() / s.Seconds
	}
	r.Steps = r.Steps[:len(r.Steps)-1]
	p99 := before.quantile(0.99)
	r.Before99, r.During99 = millis(p99), millis(after.quantile(0.99))
	r.BeforeMax, r.Longest = millis(before.quantile(1)-p99), millis(after.quantile(1)-p99)
	short, cancel = context.WithTimeout(ctx, b.quiet)
	settled := steady(short, rate, request)
	cancel()
	if settled.failed > 0 {
		return settled.first
	}
	r.After99 = millis(settled.quantile(0.99))
	r.Moved = float64(status.RowsMoved) / float64(b.moves(s))
	r.Seconds = status.Ended.Sub(status.Began).Seconds()
	r.Rows = float64(status.RowsMoved) / r.Seconds
	if err := b.check(ctx, s); err != nil {
		return err
	}
	if r.ByHand, err = b.copyByHand(ctx, s, rate, request); err != nil {
		return err
	}
	b.results = append(b.results, r)
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// mix returns the clients' requests: half of them read ten rows of a key or a single row, half of them write a row
// that is there already.
func (b *bench) mix(s scene) func(r *rand.Rand) error {
	return func(r *rand.Rand) error {
		c := r.IntN(b.rows)
		if r.IntN(2) == 0 {
			return b.insert(context.Background(), table, b.key(s, c), c, value)
		}
		if b.single {
			return b.session.Query("SELECT c, v FROM "+table+" WHERE k = ? AND c = ?", b.key(s, c), c).Iter().Close()
		}
		return b.session.Query("SELECT c, v FROM "+table+" WHERE k = ? AND c >= ? LIMIT 10", b.key(s, c), c).Iter().Close()
	}
}

// onNew are the phases in which reads go to the new layout.
var onNew = []string{reshard.Switched.String(), reshard.Settled.String(), reshard.Cleaned.String(), reshard.None.String()}

// change orders the change and waits for its end.
func (b *bench) change(ctx context.Context, s scene, r *result) (*reshard.Status, error) {
	began := time.Now()
	order := fmt.Sprintf("'shards': '%d'", s.to)
	if s.hot {
		order += ", 'key': '" + hotKey + "'"
	}
	if err := b.alter(ctx, order); err != nil {
		return nil, err
	}
	said := time.Now()
	for {
		asked := time.Now()
		status, err := b.status(ctx)
		if err != nil {
			return nil, err
		}
		r.Storage = max(r.Storage, r.grown.extra(b.bytes()))
		if r.Relief == 0 && (slices.Contains(onNew, status.Phase)) {
			r.Relief = time.Since(began).Seconds()
		}
		if n := len(r.Steps); n == 0 || r.Steps[n-1].Name != status.Phase {
			r.Steps = append(r.Steps, step{Name: status.Phase, from: asked, cpu: measure.CPU(b.door.PID)})
		}
		switch status.Phase {
		case reshard.None.String():
			return status, nil
		case reshard.Settled.String():
			// In front of Cassandra the door waits for hints, for hours. Nobody was down here.
			if err := b.alter(ctx, "'change': 'finish'"); err != nil {
				return nil, err
			}
		}
		if status.Problem != "" {
			return nil, errors.New(status.Problem)
		}
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			measure.Progress("  %s, %.0f%% of this step, %d rows moved, %d verified of %d", status.Phase, 100*status.StepDone, status.RowsMoved, status.RowsVerified, status.RowsTotal)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (b *bench) alter(ctx context.Context, options string) error {
	return b.exec(ctx, "ALTER TABLE "+table+" WITH write_sharding = {"+options+"}")
}

func (b *bench) status(ctx context.Context) (*reshard.Status, error) {
	var text string
	if err := b.session.Query("ALTER TABLE "+table+" WITH write_sharding = {'change': 'status'}").ScanContext(ctx, &text); err != nil {
		return nil, err
	}
	var s reshard.Status
	return &s, json.Unmarshal([]byte(text), &s)
}

// bytes returns the size of the embedded engine's files, and 0 in front of Cassandra.
func (b *bench) bytes() int64 {
	var n int64
	if b.door.Dir == "" {
		return 0
	}
	filepath.WalkDir(b.door.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if i, err := d.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}
