// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// tour is docs/tour.md under way: what its blocks of language console type, and
// what comes back.
type tour struct {
	t      *testing.T
	root   string
	cql    string
	dynamo string
	http   string
	sess   *gocql.Session
}

// TestTour types what docs/tour.md types, in its order, and compares the output
// with the document's. There a line "…" stands for any lines, and a line that ends
// with "…" for any end. EVENKEEL_UPDATE_SCRIPTS=1 writes the output that differs
// into the document, in full.
//
// The tour types evenkeel, go run ./examples/… > FILE, cat, statements to cqlsh, aws
// dynamodb, and curl to grep. The clients are not run: a driver executes the statements,
// and the test prints its answers as cqlsh does; the test makes requests from flags as
// aws does.
func TestTour(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	doc := filepath.Join(root, "docs", "tour.md")
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	if err := os.Symlink(filepath.Join(root, "examples"), "examples"); err != nil {
		t.Fatal(err)
	}
	u := &tour{t: t, root: root}
	var out []string
	commands, update := 0, os.Getenv("EVENKEEL_UPDATE_SCRIPTS") != ""
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); {
		out = append(out, lines[i])
		if i++; lines[i-1] != "```console" {
			continue
		}
		for i < len(lines) && lines[i] != "```" {
			at := i + 1
			prompt, command := promptOf(lines[i])
			if prompt == "" {
				t.Fatalf("docs/tour.md:%d: a block begins with a prompt", at)
			}
			out = append(out, lines[i])
			for i++; unfinished(prompt, command); i++ {
				out = append(out, lines[i])
				command = strings.TrimSuffix(command, `\`) + " " + strings.TrimSpace(lines[i])
			}
			var want []string
			for ; i < len(lines) && lines[i] != "```"; i++ {
				if p, _ := promptOf(lines[i]); p != "" {
					break
				}
				want = append(want, lines[i])
			}
			commands++
			got := strings.Split(strings.Trim(u.do(prompt, command), "\n"), "\n")
			for j := range got {
				got[j] = strings.TrimRight(got[j], " ")
			}
			switch bare := trimBlank(want); {
			case matches(trimBlank(got), bare):
				out = append(out, want...)
			case update:
				out = append(out, trimBlank(got)...)
			default:
				t.Errorf("docs/tour.md:%d: %s%s\nprints\n%s\nand not\n%s", at, prompt, command, strings.Join(got, "\n"), strings.Join(bare, "\n"))
			}
		}
	}
	if commands < 20 {
		t.Errorf("%d commands: not the whole tour", commands)
	}
	if update {
		if err := os.WriteFile(doc, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func promptOf(line string) (prompt, command string) {
	for _, p := range []string{"$ ", "cqlsh> "} {
		if command, ok := strings.CutPrefix(line, p); ok {
			return p, command
		}
	}
	return "", ""
}

func unfinished(prompt, command string) bool {
	if prompt == "$ " {
		return strings.HasSuffix(command, `\`)
	}
	return !strings.HasSuffix(command, ";")
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// matches reports whether lines are those of a pattern with elisions.
func matches(lines, pattern []string) bool {
	if len(pattern) == 0 {
		return len(lines) == 0
	}
	if pattern[0] == "…" {
		for i := range len(lines) + 1 {
			if matches(lines[i:], pattern[1:]) {
				return true
			}
		}
		return false
	}
	if len(lines) == 0 {
		return false
	}
	start, elided := strings.CutSuffix(pattern[0], "…")
	if lines[0] != pattern[0] && (!elided || !strings.HasPrefix(lines[0], start)) {
		return false
	}
	return matches(lines[1:], pattern[1:])
}

func TestTourElision(t *testing.T) {
	lines := []string{"a", "b", "c", "from 127.0.0.1"}
	for pattern, want := range map[string]bool{
		"a|b|c|from 127.0.0.1": true, "a|…|from…": true, "…|c|…": true, "…": true, "a|b|c|from…|…": true,
		"a|b|c": false, "a|…|b": false, "b|…": false, "a|b|c|to…": false, "": false,
	} {
		if got := matches(lines, strings.Split(pattern, "|")); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}

// do executes a command and returns what a terminal would show.
func (u *tour) do(prompt, command string) string {
	if prompt == "cqlsh> " {
		return u.cqlsh(command)
	}
	command = zeros.ReplaceAllStringFunc(command, func(call string) string {
		n, err := strconv.Atoi(zeros.FindStringSubmatch(call)[1])
		u.check(err)
		return strings.Repeat("0", n)
	})
	words := split(command)
	switch {
	case command == "evenkeel serve --capacity dynamodb --cache 64MB &":
		u.serve()
		return ""
	case words[0] == "evenkeel":
		args := words[1:]
		if args[0] == "explain" {
			args = append([]string{"explain", "--cql", u.cql}, args[1:]...)
		}
		for i := range args {
			args[i] = strings.Replace(args[i], "cql://127.0.0.1/", "cql://"+u.cql+"/", 1)
			args[i] = strings.Replace(args[i], "http://127.0.0.1:8000", "http://"+u.dynamo, 1)
		}
		var out bytes.Buffer
		run(args, &out, &out)
		return out.String()
	case words[0] == "go" && words[1] == "run" && words[3] == ">":
		c := exec.CommandContext(u.t.Context(), "go", "run", words[2])
		c.Dir = u.root
		c.Stderr = os.Stderr
		out, err := c.Output()
		u.check(err)
		u.check(os.WriteFile(words[4], out, 0o644))
		return ""
	case words[0] == "cat":
		text, err := os.ReadFile(words[1])
		u.check(err)
		return string(text)
	case words[0] == "export":
		return ""
	case words[0] == "curl":
		return u.curl(words)
	case words[0] == "aws" && words[1] == "dynamodb":
		return u.aws(words[2], words[3:])
	}
	u.t.Fatalf("the tour cannot type %q", command)
	return ""
}

// zeros is a call of printf, in the place of its output: so many zeros.
var zeros = regexp.MustCompile(`\$\(printf %0(\d+)d 0\)`)

// curl prints the lines of a page that match a pattern: curl -s URL | grep PATTERN.
func (u *tour) curl(words []string) string {
	if len(words) != 6 || words[1] != "-s" || words[3] != "|" || words[4] != "grep" {
		u.t.Fatalf("the tour cannot type %q", words)
	}
	resp, err := http.Get(strings.Replace(words[2], "127.0.0.1:8080", u.http, 1))
	u.check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	u.check(err)
	pattern, err := regexp.Compile(words[5])
	u.check(err)
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if pattern.MatchString(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

func (u *tour) check(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

// split parts a line into words as a shell does that knows quotes and nothing else.
func split(line string) (words []string) {
	word, quote, begun := "", rune(0), false
	for _, c := range line + " " {
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && c == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(c), true
		}
	}
	return words
}

// serve starts evenkeel serve with the document's flags, on other ports.
func (u *tour) serve() {
	free := loopback.FreeAddr
	s := &serveCmd{ListenCQL: free(u.t), ListenHTTP: free(u.t), ListenDynamoDB: free(u.t), Data: u.t.TempDir(), Drain: time.Second, LogLevel: "error"}
	s.Capacity, s.Cache, s.CacheTTL = []string{likeDynamoDB}, 64e6, 5*time.Minute
	u.cql, u.dynamo, u.http = s.ListenCQL, s.ListenDynamoDB, s.ListenHTTP
	signals, ended := make(chan os.Signal, 2), make(chan error, 1)
	go func() { ended <- s.serve(u.t.Context(), &stdio{io.Discard, io.Discard}, signals) }()
	u.t.Cleanup(func() {
		signals <- syscall.SIGTERM
		if err := wait(u.t, ended); err != nil && u.t.Context().Err() == nil {
			u.t.Error(err)
		}
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get("http://" + s.ListenHTTP + "/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			u.t.Fatal("evenkeel serve does not become ready")
		}
	}
	host, port, err := net.SplitHostPort(u.cql)
	u.check(err)
	c := gocql.NewCluster(host)
	_, err = fmt.Sscan(port, &c.Port)
	u.check(err)
	c.Timeout, c.ConnectTimeout, c.Consistency = patience, patience, gocql.One
	u.sess, err = c.CreateSession()
	u.check(err)
	u.t.Cleanup(u.sess.Close)
}

// cqlsh executes a statement and lays the answer out as cqlsh does.
func (u *tour) cqlsh(statement string) string {
	iter := u.sess.Query(strings.TrimSuffix(statement, ";")).IterContext(u.t.Context())
	columns := iter.Columns()
	table := [][]string{nil}
	for _, c := range columns {
		table[0] = append(table[0], c.Name)
	}
	for row := map[string]any{}; iter.MapScan(row); row = map[string]any{} {
		var cells []string
		for _, c := range columns {
			cell := fmt.Sprint(row[c.Name])
			if at, ok := row[c.Name].(time.Time); ok {
				cell = at.Format("2006-01-02 15:04:05.000000-0700")
				if c.TypeInfo.Type() == gocql.TypeDate {
					cell = at.Format(time.DateOnly)
				}
			}
			cells = append(cells, cell)
		}
		table = append(table, cells)
	}
	if err := iter.Close(); err != nil {
		var failed gocql.RequestError
		if !errors.As(err, &failed) {
			u.t.Fatalf("%s: %v", statement, err)
		}
		if failed.Code() == gocql.ErrCodeConfig {
			return "ConfigurationException: " + failed.Message()
		}
		return fmt.Sprintf("InvalidRequest: Error from server: code=%04x [Invalid query] message=%q", failed.Code(), failed.Message())
	}
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	width := make([]int, len(columns))
	for _, row := range table {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range table {
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if row[i] = " " + pad + cell + " "; r == 0 {
				row[i] = " " + cell + pad + " "
			}
		}
		fmt.Fprintln(&b, strings.Join(row, "|"))
		if r == 0 {
			for i := range row {
				row[i] = strings.Repeat("-", width[i]+2)
			}
			fmt.Fprintln(&b, strings.Join(row, "+"))
		}
	}
	fmt.Fprintf(&b, "\n(%d rows)\n", len(table)-1)
	return b.String()
}

// aws sends the request that aws dynamodb makes of its flags.
func (u *tour) aws(operation string, flags []string) string {
	request := map[string]any{}
	for len(flags) > 0 {
		name := pascal(strings.TrimPrefix(flags[0], "--"))
		n := 1
		for n < len(flags) && !strings.HasPrefix(flags[n], "--") {
			n++
		}
		switch values := flags[1:n]; {
		case strings.HasPrefix(values[0], "{") || strings.HasPrefix(values[0], "["):
			request[name] = json.RawMessage(values[0])
		case name == "AttributeDefinitions" || name == "KeySchema" || name == "Tags":
			var list []map[string]string
			for _, v := range values {
				fields := map[string]string{}
				for field := range strings.SplitSeq(v, ",") {
					key, value, _ := strings.Cut(field, "=")
					fields[key] = value
				}
				list = append(list, fields)
			}
			request[name] = list
		default:
			request[name] = values[0]
		}
		flags = flags[n:]
	}
	body, err := json.Marshal(request)
	u.check(err)
	req, err := http.NewRequestWithContext(u.t.Context(), http.MethodPost, "http://"+u.dynamo, bytes.NewReader(body))
	u.check(err)
	for key, value := range map[string]string{
		"Content-Type":  "application/x-amz-json-1.0",
		"X-Amz-Date":    "20250101T000000Z",
		"X-Amz-Target":  "DynamoDB_20120810." + pascal(operation),
		"Authorization": "AWS4-HMAC-SHA256 Credential=any/20250101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=00",
	} {
		req.Header.Set(key, value)
	}
	resp, err := http.DefaultClient.Do(req)
	u.check(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	u.check(err)
	if resp.StatusCode != http.StatusOK {
		var failed struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		u.check(json.Unmarshal(answer, &failed))
		_, kind, _ := strings.Cut(failed.Type, "#")
		return fmt.Sprintf("An error occurred (%s) when calling the %s operation: %s", kind, pascal(operation), failed.Message)
	}
	if len(answer) == 0 || string(answer) == "{}" {
		return ""
	}
	var b bytes.Buffer
	u.check(json.Indent(&b, answer, "", "    "))
	return b.String()
}

// pascal is the API's name of what aws writes with-hyphens.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
