// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// attackAnswers runs random histories on plain and on sharded tables. The judge is a Cassandra if
// there is one, else a plain table of the same engine.
func attackAnswers(f *field) error {
	s, err := f.newServer("answers")
	if err != nil {
		return err
	}
	defer s.close(f)
	engine := func(name, sharding string, shards int) difftest.Target {
		return difftest.Target{Name: name, Addr: s.cql, Sharding: sharding, Shards: shards, Refuses: []string{"index", "view"}}
	}
	targets := []difftest.Target{engine("engine", "", 0)}
	var door *server
	if f.cassandra != "" {
		if door, err = f.newServer("door", "--cassandra", f.cassandra); err != nil {
			return err
		}
		defer door.close(f)
		targets = slices.Insert(targets, 0, difftest.Target{Name: "cassandra", Addr: f.cassandra})
	}
	refusals, err := difftest.ReadRefusals("internal/difftest/testdata/refusals.txt")
	if err != nil {
		return err
	}
	for n := 0; !f.over(); n++ {
		g := newGrammar(f.Rand)
		all := slices.Clone(targets)
		add := func(name, sharding string, shards int) {
			all = append(all, engine("engine, "+name, sharding, shards))
			if door != nil {
				all = append(all, difftest.Target{Name: "door, " + name, Addr: door.cql, Sharding: sharding, Shards: shards})
			}
		}
		shards := pick(f.Rand, 1, 2, 3, 7, 40)
		switch {
		case g.random:
			add("random", fmt.Sprintf("{'strategy': 'random', 'shards': '%d'}", shards), shards)
		default:
			by := ""
			if f.IntN(3) == 0 {
				by = fmt.Sprintf(", 'by': '%s'", g.ck[f.IntN(len(g.ck))].name)
			}
			add("calculated", fmt.Sprintf("{'shards': '%d'%s}", shards, by), shards)
		}
		if err := f.history(n, g, all, refusals); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) history(n int, g *grammar, targets []difftest.Target, refusals *difftest.Refusals) (err error) {
	version := pick(f.Rand, primitive.ProtocolVersion4, primitive.ProtocolVersion5)
	var sessions []*difftest.Session
	defer func() {
		for _, s := range sessions {
			if e := s.Drop(); err == nil {
				err = e
			}
		}
	}()
	for i, t := range targets {
		s, err := difftest.Open(t, fmt.Sprintf("attack_%d_%05d", i, n), version)
		if err != nil {
			return err
		}
		sessions = append(sessions, s)
	}
	script := &difftest.Script{Name: fmt.Sprintf("history %d", n), Pages: []int32{pick[int32](f.Rand, 1, 2, 3, 5)}}
	add := func(text string, unordered bool) {
		script.Steps = append(script.Steps, difftest.Step{Line: len(script.Steps) + 1, Text: text, Error: -1, Unordered: unordered})
	}
	add("CREATE TYPE u (a int, b text)", false)
	add(g.create(), false)
	steps := 20 + f.IntN(60)
	// Cassandra may flush a table that is altered or truncated. After that it is open which form of an
	// equal key (1.0 and 1.00) a read shows.
	alters := !g.counters && !strings.Contains(g.create(), "decimal")
	for range steps {
		if f.IntN(25) == 0 && alters {
			add(g.alter(), false)
		}
		if f.IntN(60) == 0 && alters {
			add("TRUNCATE t", false)
		}
		if f.IntN(30) == 0 && g.widens() {
			add(g.widen(), false)
		}
		if f.IntN(5) < 2 {
			add(g.read())
		} else {
			add(g.write(), false)
		}
	}
	add("SELECT * FROM t", true)
	broken, found := false, ""
	r := &difftest.Runner{Sessions: sessions, Refusals: refusals, Tally: &difftest.Tally{}, AnyRefusal: true, AnyError: true,
		Report: func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			// Later differences mostly follow from the first. The door may warn of batches that
			// replace one statement, or they may be too large, and the judge may fail. If there are
			// many of these, the runner reports that it leaves out more.
			if strings.Contains(text, "want error 0x1300") || strings.Contains(text, "want error 0x0000") {
				broken = true // if that was a write, the data differ from here on
			}
			broken = broken || strings.Contains(text, "error 0x2200 Batch too large") // so they do then
			// If several statements of a batch are wrong, one of them in its time to live, the door may report
			// another statement than Cassandra.
			_, want, _ := strings.Cut(text, "want error 0x2200")
			_, got, _ := strings.Cut(want, "got  error 0x2200")
			if strings.Contains(text, "\n  BEGIN ") && got != "" && strings.Contains(strings.ToLower(want), "ttl") && !strings.Contains(got, "shard") {
				return
			}
			// The door does not know when a time to live is too long for the store. It sends the store no statement
			// that writes no row.
			broken = broken || strings.Contains(text, "IN ()") && strings.Contains(text, "exceeds maximum supported expiration date") && strings.Contains(text, "got  void")
			if broken || strings.Contains(text, "got [\"Batch for [") || strings.HasSuffix(text, "further differences are not listed") {
				return
			}
			broken, found = true, text
		}, Log: func(string, ...any) {}}
	begun := time.Now()
	r.Run(script)
	if found != "" {
		// Cassandra may have flushed the table because its memory was full. Then it gives another answer now.
		judge, err := difftest.Open(targets[0], fmt.Sprintf("attack_again_%05d", n), version)
		if err != nil {
			return err
		}
		sessions = append(sessions, judge)
		contradicts, err := r.Contradicts(judge)
		if err != nil {
			return err
		}
		if !contradicts {
			f.fault("answers differ"+class(found), "%s\nThe history is in %s", found, f.keep(script))
		}
	}
	f.sent.Add(int64(len(script.Steps) * len(targets)))
	if !broken && time.Since(begun) < time.Minute {
		f.carry(g, sessions)
	}
	return nil
}

// keep writes a history, with CREATE TABLE without write_sharding, to a file that outlives the
// attack.
func (f *field) keep(s *difftest.Script) string {
	out, err := os.CreateTemp("", "evenkeel-attack-*.cql")
	if err != nil {
		return err.Error()
	}
	defer out.Close()
	for _, p := range s.Steps {
		if _, err := fmt.Fprintln(out, p.Text+";"); err != nil {
			return err.Error()
		}
	}
	return out.Name()
}

// class returns the subject of a difference, by which faults are distinguished: an error's text, or
// nothing.
func class(difference string) string {
	if _, text, ok := strings.Cut(difference, "error 0x"); ok {
		line, _, _ := strings.Cut(text, "\n")
		return ", error " + line[:min(len(line), 50)]
	}
	return ""
}

// carry uses the paging states of one read in another.
func (f *field) carry(g *grammar, sessions []*difftest.Session) {
	for range 6 {
		// Both reads name the same partitions. If a page ends with a partition, Cassandra's state
		// names the next one or this one. This depends on how it read the page. A read without the
		// named partition is at its end.
		keys := g.keys(g.pk, 4)
		first := g.rowsOf(keys)
		then := first
		if f.IntN(3) > 0 {
			then = g.rowsOf(keys)
		}
		var want *difftest.Answer
		for i, s := range sessions {
			a, err := s.Query(difftest.Request{Query: first, PageSize: 2})
			if err != nil {
				f.fault("a connection is lost", "%s: %s: %v", s.Name, first, err)
				return
			}
			if a.Kind != difftest.Rows || a.State == nil {
				if i > 0 && want != nil {
					break // a sharded table may know earlier that this was the last page
				}
				break
			}
			var got *difftest.Answer
			for state := a.State; state != nil; {
				a, err := s.Query(difftest.Request{Query: then, PageSize: 3, State: state})
				f.sent.Add(1)
				if err != nil {
					f.fault("a connection is lost", "%s: %s, with a paging state of %s: %v", s.Name, then, first, err)
					return
				}
				if got == nil || a.Kind != difftest.Rows {
					got = a
				} else {
					got.Rows = append(got.Rows, a.Rows...)
				}
				state = a.State
			}
			if i == 0 {
				want = got
				continue
			}
			// The reasons to refuse the other statement's state may differ.
			if want.Kind == difftest.Error || got.Kind == difftest.Error && got.Code == primitive.ErrorCodeProtocolError {
				continue
			}
			if len(want.Rows) != len(got.Rows) || want.Kind != got.Kind {
				f.fault("a carried paging state", "%s\n%s\nthen %s\n%s: %v\n%s: %v", g.create(), first, then, sessions[0].Name, want, s.Name, got)
			}
		}
	}
}
