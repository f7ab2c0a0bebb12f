// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPartiQL runs scripts whose answers are AWS's, as its developer guide and
// recordings of it have them: on plain tables, and on sharded ones, whose answers
// are to be the same.
//
//	request OPERATION           the body
//	statement [limit=N] [unordered] [consistent]
//	pages limit=N               one page after another, to the end
//	batch, transaction          a statement in each line
//
// A statement's line may end in " ?? " and its parameters, as JSON.
func TestPartiQL(t *testing.T) {
	engine := func(t *testing.T) Target { return engineDoor(t, 4) }
	front := func(t *testing.T) Target { return frontOf(t, bareDoor(t), 4) } // of an endpoint without PartiQL
	through := func(t *testing.T) Target { return frontOf(t, engineDoor(t, 4), 4) }
	for _, c := range []struct {
		name   string
		serve  func(t *testing.T) Target
		shards int
	}{
		{"plain", engine, 0}, {"shards=1", engine, 1}, {"shards=3", engine, 3}, {"shards=16", engine, 16},
		{"plain in front", front, 0}, {"shards=3 in front", front, 3}, {"forwarded", through, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if datadrivenRewrites() && c.name != "plain" {
				return // the plain table's answers are what is written
			}
			datadriven.Walk(t, "testdata/partiql", func(t *testing.T, path string) {
				p := &partiql{target: c.serve(t), shards: c.shards}
				datadriven.RunTest(t, path, p.run)
			})
		})
	}
}

// TestPartiQLOnDynalite has statements carried out by dynalite: what they become is
// judged by somebody else. It has no transactions.
func TestPartiQLOnDynalite(t *testing.T) {
	for _, script := range []string{"documented.txt", "reads.txt", "writes.txt"} {
		for _, shards := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s,shards=%d", script, shards), func(t *testing.T) {
				if datadrivenRewrites() {
					return
				}
				p := &partiql{target: frontOf(t, judge(t), 4), shards: shards}
				datadriven.RunTest(t, "testdata/partiql/"+script, p.run)
			})
		}
	}
}

func datadrivenRewrites() bool { return flag.Lookup("rewrite").Value.String() == "true" }

type partiql struct {
	target Target
	shards int
}

func (p *partiql) run(t *testing.T, d *datadriven.TestData) string {
	body := map[string]any{}
	if d.HasArg("limit") {
		var limit int
		d.ScanArgs(t, "limit", &limit)
		body["Limit"] = limit
	}
	if d.HasArg("consistent") {
		body["ConsistentRead"] = true
	}
	if d.HasArg("capacity") {
		body["ReturnConsumedCapacity"] = "TOTAL"
	}
	switch d.Cmd {
	case "request":
		request := d.Input
		if d.CmdArgs[0].Key == "CreateTable" && p.shards > 0 && strings.Contains(request, "RANGE") {
			request = strings.TrimSuffix(request, "}") + fmt.Sprintf(`,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=%d"}]}`, p.shards)
		}
		a := p.send(t, d.CmdArgs[0].Key, json.RawMessage(request))
		if d.HasArg("quiet") && a.Status == 200 {
			return ""
		}
		if d.HasArg("member") && a.Status == 200 {
			var path string
			d.ScanArgs(t, "member", &path)
			return compact(memberOf(a.Body, path)) + "\n"
		}
		if d.HasArg("names") && a.Status == 200 {
			return names(a.Body)
		}
		return show(a, false)
	case "statement":
		member(t, body, strings.ReplaceAll(d.Input, "\n", " "))
		return show(p.send(t, "ExecuteStatement", body), d.HasArg("unordered"))
	case "pages":
		member(t, body, d.Input)
		var out strings.Builder
		for range 20 {
			a := p.send(t, "ExecuteStatement", body)
			m, _ := a.Body.(map[string]any)
			token, more := m["NextToken"]
			out.WriteString(show(a, false))
			if !more {
				return out.String()
			}
			body["NextToken"] = token
		}
		t.Fatalf("%s: there is no end", d.Pos)
	case "batch", "transaction":
		operation, list := "BatchExecuteStatement", "Statements"
		if d.Cmd == "transaction" {
			operation, list = "ExecuteTransaction", "TransactStatements"
		}
		var all []map[string]any
		for _, line := range strings.Split(d.Input, "\n") {
			m := map[string]any{}
			if d.HasArg("onfailure") {
				m["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
			}
			member(t, m, line)
			all = append(all, m)
		}
		body[list] = all
		if d.HasArg("token") {
			body["ClientRequestToken"] = d.CmdArgs[0].Vals[0]
		}
		return show(p.send(t, operation, body), false)
	default:
		t.Fatalf("%s: unknown directive %s", d.Pos, d.Cmd)
	}
	return ""
}

// member adds a statement and its parameters to a body.
func member(t *testing.T, body map[string]any, line string) {
	statement, parameters, ok := strings.Cut(line, " ?? ")
	body["Statement"] = statement
	if !ok {
		return
	}
	var list []any
	if err := json.Unmarshal([]byte(parameters), &list); err != nil {
		t.Fatalf("parameters %s: %v", parameters, err)
	}
	body["Parameters"] = list
}

func (p *partiql) send(t *testing.T, operation string, body any) Answer {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.target.Do(operation, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(a.Body); strings.Contains(text, "evenkeel.") {
		t.Errorf("%s %s\nshows what is hidden: %s", operation, body, text)
	}
	return a
}

// show is an answer in lines: an item each, then what else there is.
func show(a Answer, unordered bool) string {
	m, ok := a.Body.(map[string]any)
	if !ok {
		return fmt.Sprintf("%d %v\n", a.Status, a.Body)
	}
	if name, wrong := m["__type"].(string); wrong {
		_, name, _ = strings.Cut(name, "#")
		message, _ := m["message"].(string)
		if message == "" {
			message, _ = m["Message"].(string)
		}
		out := fmt.Sprintf("%d %s: %s\n", a.Status, name, message)
		for _, more := range []string{"Item", "CancellationReasons"} {
			if v, ok := m[more]; ok {
				out += more + " " + compact(v) + "\n"
			}
		}
		return out
	}
	var lines []string
	for _, list := range []string{"Items", "Responses"} {
		all, ok := m[list].([]any)
		if !ok {
			continue
		}
		for _, item := range all {
			lines = append(lines, compact(item))
		}
		if len(all) == 0 {
			lines = append(lines, "no "+list)
		}
		delete(m, list)
	}
	if unordered {
		slices.Sort(lines)
	}
	if _, ok := m["NextToken"]; ok {
		m["NextToken"] = "…"
	}
	if len(m) > 0 || len(lines) == 0 {
		lines = append(lines, compact(m))
	}
	return strings.Join(lines, "\n") + "\n"
}

// names are the names of the members of an answer's one member, and of theirs.
func names(v any) string {
	var out strings.Builder
	m, _ := v.(map[string]any)
	for _, of := range m {
		in, _ := of.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(in)) {
			out.WriteString(name)
			if of, ok := in[name].(map[string]any); ok {
				fmt.Fprintf(&out, " %v", slices.Sorted(maps.Keys(of)))
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// memberOf is what a path of names and indexes, parted by points, leads to; nil where
// there is nothing.
func memberOf(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	text = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text)))
	return string(text)
}
