// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// askManyStatements sends a BATCH message of as many as 65,535 prepared statements and texts, and
// may leave.
func askManyStatements(f *field, r *rand.Rand, s *server) {
	c, err := difftest.Dial(s.cql, pick(r, primitive.ProtocolVersion4, primitive.ProtocolVersion5), "", "")
	if err != nil {
		return // askMuch reports that
	}
	defer c.Close()
	defer time.AfterFunc(time.Duration(r.IntN(5000))*time.Millisecond, func() { c.Close() }).Stop()
	table := "w." + pick(r, workTables...)
	texts := []string{
		"INSERT INTO " + table + " (p, c, d, n) VALUES (?, ?, ?, ?)", "UPDATE " + table + " SET n = ? WHERE p IN ? AND c = 9 AND d = 9",
		"DELETE FROM " + table + " WHERE p = ? AND c > ?", "UPDATE " + table + " SET b = ? WHERE p = 9 AND c = ? AND d = ?",
	}
	text := pick(r, texts...)
	p, err := c.Prepare(text)
	if err != nil || p.Kind != difftest.Prepared {
		return
	}
	n := upTo(r, 65_535)
	children := make([]*message.BatchChild, n)
	for i := range children {
		var values []*primitive.Value
		for k := range strings.Count(text, "?") {
			value := primitive.NewValue([]byte{0, 0, byte(i >> 8), byte(i)})
			if strings.Contains(text, "p IN ?") && k == 1 {
				value = intList(r, min(100, 1+200_000/n))
			}
			values = append(values, value)
		}
		children[i] = &message.BatchChild{Id: p.ID, Values: values}
		if r.IntN(100) == 0 {
			children[i] = &message.BatchChild{Query: text, Values: values}
		}
	}
	f.sent.Add(1)
	a, err := c.Batch(&message.Batch{Type: pick(r, primitive.BatchTypeLogged, primitive.BatchTypeUnlogged), Consistency: primitive.ConsistencyLevelOne, Children: children})
	if err == nil && a.Kind == difftest.Error && a.Code == primitive.ErrorCodeServerError && !strings.HasPrefix(a.Text, "java.lang.") {
		f.fault("server error", "a BATCH of %d × %s: %v", n, text, a)
	}
}

// askWide creates a table of many columns, alters it, and drops it. In front of Cassandra the table has
// fewer columns, because Cassandra writes each of them to its own tables.
func askWide(f *field, r *rand.Rand, s *server) {
	most := 20_000
	if slices.Contains(s.flags, "--cassandra") {
		most = 300
	}
	table := fmt.Sprintf("w.wide%d", r.IntN(1_000_000))
	columns := strings.Builder{}
	for i := range upTo(r, most) {
		fmt.Fprintf(&columns, ", c%d %s", i, pick(r, "int", "text", "frozen<map<text, frozen<list<int>>>>", "set<blob>"))
	}
	with := pick(r, "", " WITH write_sharding = {'shards': '20'}")
	texts := []string{"CREATE TABLE " + table + " (p int, c int" + columns.String() + ", PRIMARY KEY (p, c))" + with}
	for i := range 3 {
		texts = append(texts, fmt.Sprintf("ALTER TABLE %s ADD d%d int", table, i), fmt.Sprintf("INSERT INTO %s (p, c, d%d) VALUES (1, 1, 1)", table, i), "SELECT * FROM "+table, "DESCRIBE TABLE "+table)
	}
	for _, text := range append(texts, "DROP TABLE IF EXISTS "+table) {
		c, err := difftest.Dial(s.cql, primitive.ProtocolVersion5, "", "")
		if err != nil {
			return // askMuch reports that
		}
		f.sent.Add(1)
		a, err := c.Query(difftest.Request{Query: text})
		c.Close()
		if err == nil && a.Kind == difftest.Error && a.Code == primitive.ErrorCodeServerError && !strings.HasPrefix(a.Text, "java.lang.") {
			f.fault("server error", "%.300s: %v", text, a)
		}
	}
}
