// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// testdata/statements.txt holds statements written by hand, one a line. testdata/corpus.txt holds
// the verdicts of Apache Cassandra 5.0 on them, on every keyword as an identifier, and on damaged
// copies of them. This asks a Cassandra again:
//
//	go test ./cql/syntax -run Corpus -update -cassandra 127.0.0.1:9042
//
// It only prepares the statements and executes none.
var (
	update    = flag.Bool("update", false, "ask a real Cassandra for the verdicts of the corpus")
	cassandra = flag.String("cassandra", "127.0.0.1:9042", "address of the Cassandra that -update asks")
)

const (
	statementsFile = "testdata/statements.txt"
	corpusFile     = "testdata/corpus.txt"
	mutants        = 2500
)

// A verdict is "ok" for a statement that the grammar accepts, even if Cassandra refuses it later.
// Otherwise it is the message of the SyntaxException.
type verdict struct{ statement, answer string }

var (
	escaper   = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	unescaper = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")
)

func readLines(t testing.TB, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func readStatements(t testing.TB) []string {
	list := readLines(t, statementsFile)
	for i := range list {
		list[i] = unescaper.Replace(list[i])
	}
	return list
}

func readCorpus(t testing.TB) []verdict {
	var list []verdict
	for _, line := range readLines(t, corpusFile) {
		answer, statement, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%s: malformed line %q", corpusFile, line)
		}
		list = append(list, verdict{unescaper.Replace(statement), unescaper.Replace(answer)})
	}
	return list
}

// crashes matches answers that come from an accident inside the reference parser: it continued
// after an error that it had already found. We return the error itself.
var crashes = regexp.MustCompile(`reason: (NullPointerException|ClassCastException|NoSuchElementException)`)

// knownDifferences are statements for which our answer differs, each with the reason.
var knownDifferences = []struct {
	statements *regexp.Regexp
	reason     string
}{
	{regexp.MustCompile(`(?s)MBEANS?.*'foo'`), "names of MBeans are not checked: there are none here"},
	{regexp.MustCompile(`(?s)^(GRANT|REVOKE).*ON.*FUNCTION`),
		"the reference parser looks the function's keyspace up, and stops at one that does not exist"},
	{regexp.MustCompile(`(?s)^CREATE (KEYSPACE|TABLE).*\{.*1 ?\+ ?1`), "arithmetic as a property's value: the message shows it otherwise"},
	{regexp.MustCompile(`(?s)^CREATE TABLE.*\( int, ,  int,|PRIMARY KEY \(ca, b\), c, d\)`),
		"after the syntax error the reference parser goes on and meets a second column without a name"},
}

func knownDifference(statement string) bool {
	for _, d := range knownDifferences {
		if d.statements.MatchString(statement) {
			return true
		}
	}
	return false
}

var position = regexp.MustCompile(`^line \d+:-?\d+ `)

// placed returns an error without its wording: the position, or the whole message if Cassandra
// gives no position.
func placed(message string) string {
	if p := position.FindString(message); p != "" {
		return p
	}
	return message
}

func TestCorpus(t *testing.T) {
	if *update {
		writeCorpus(t)
	}
	var accepted, rejected, worded, skipped int
	for _, v := range readCorpus(t) {
		if knownDifference(v.statement) || crashes.MatchString(v.answer) {
			skipped++
			continue
		}
		s, err := Parse(v.statement)
		var syn *SyntaxError
		if err != nil {
			syn = err.(*SyntaxError)
		}
		if v.answer == "ok" {
			accepted++
			switch {
			case err == nil:
				checkTarget(t, v.statement, s)
				checkRoundTrip(t, s)
			case !syn.Invalid:
				t.Errorf("%s\nCassandra: accepted\n     here: %v", v.statement, err)
			}
			continue
		}
		rejected++
		switch {
		case err == nil:
			t.Errorf("%s\nCassandra: %s\n     here: accepted", v.statement, v.answer)
		case syn.Invalid:
			t.Errorf("%s\nCassandra: %s\n     here: invalid request: %v", v.statement, v.answer, err)
		case placed(v.answer) != placed(err.Error()):
			t.Errorf("%s\nCassandra: %s\n     here: %s", v.statement, v.answer, err)
		case v.answer == err.Error():
			worded++
		}
	}
	t.Logf("%d accepted, %d rejected, %d of these word for word, %d excused", accepted, rejected, worded, skipped)
	if accepted < 400 || rejected < 800 {
		t.Errorf("the corpus has %d accepted and %d rejected statements: too few to judge by", accepted, rejected)
	}
	if skipped > 100 {
		t.Errorf("%d statements are excused from the comparison", skipped)
	}
	if worded*100 < rejected*93 {
		t.Errorf("only %d of %d errors have Cassandra's words", worded, rejected)
	}
}

// candidates returns the statements of the corpus, in a fixed order.
func candidates(t *testing.T) []string {
	list := readStatements(t)
	for _, k := range keywords {
		list = append(list, "SELECT "+k.text+" FROM t", "INSERT INTO "+k.text+" (a) VALUES ("+k.text+"(1))",
			"CREATE TABLE t (a "+k.text+" PRIMARY KEY)")
	}
	m := mutator{rand.New(rand.NewPCG(1, 2)), readStatements(t)}
	for range mutants {
		list = append(list, m.mutant())
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" }) // the codec sends no empty statement
	slices.Sort(list)
	return slices.Compact(list)
}

func writeCorpus(t *testing.T) {
	conn, err := net.Dial("tcp", *cassandra)
	if err != nil {
		t.Fatalf("-cassandra: %v", err)
	}
	defer conn.Close()
	codec := frame.NewCodec()
	ask := func(m message.Message) message.Message {
		if err := codec.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion4, 1, m), conn); err != nil {
			t.Fatal(err)
		}
		reply, err := codec.DecodeFrame(conn)
		if err != nil {
			t.Fatal(err)
		}
		return reply.Body.Message
	}
	ask(message.NewStartup())
	f, err := os.Create(corpusFile)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, s := range candidates(t) {
		answer := "ok"
		switch m := ask(&message.Prepare{Query: s}).(type) {
		case *message.SyntaxError:
			answer = m.ErrorMessage
		case *message.ServerError:
			continue // an accident in the server, not a verdict on the text
		}
		fmt.Fprintf(w, "%s\t%s\n", escaper.Replace(answer), escaper.Replace(s))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// mutator damages statements.
type mutator struct {
	*rand.Rand
	seeds []string
}

var (
	piece = regexp.MustCompile(`(?s)\s+|'(?:[^']|'')*'|"[^"]*"|\$\$.*?\$\$|[A-Za-z_0-9]+|.`)
	spare = strings.Fields(`SELECT FROM WHERE AND IN ( ) , . ; = < <= > >= != + - * / % [ ] { } : ? 'x' 1 -1 1.5 ..
		a b "A" "" k t ks token count ttl writetime key json distinct int text list map set frozen tuple vector uuid
		null true NaN -NaN 0xab 1d 12h now() expr( IF EXISTS NOT LIKE CONTAINS KEY IS USING TTL TIMESTAMP ORDER BY
		ASC DESC LIMIT PER PARTITION GROUP ALLOW FILTERING JSON DISTINCT AS CAST INSERT INTO VALUES UPDATE SET
		DELETE BEGIN BATCH APPLY CREATE TABLE KEYSPACE INDEX TYPE WITH STATIC PRIMARY ALTER ADD DROP RENAME TO ON
		ALL ROLE ANN OF DEFAULT UNSET MASKED COMPACT STORAGE CLUSTERING += -= $$x$$ @ ! -- /*x*/
		550e8400-e29b-41d4-a716-446655440000 1e 5d4 1e400 deadbeef-1 é 'é' "é" 𝄞`)
)

// mutant returns a seed with one or two of its pieces dropped, replaced, doubled, exchanged, or
// joined to the end of another seed.
func (m *mutator) mutant() string {
	p := piece.FindAllString(m.seeds[m.IntN(len(m.seeds))], -1)
	for range 1 + m.IntN(4)/3 {
		if len(p) == 0 {
			break
		}
		i := m.IntN(len(p))
		word := spare[m.IntN(len(spare))]
		switch r := m.IntN(20); {
		case r < 6:
			p = slices.Delete(p, i, i+1)
		case r < 11:
			p[i] = word
		case r < 16:
			p = slices.Insert(p, i, " "+word+" ")
		case r < 18:
			j := m.IntN(len(p))
			p[i], p[j] = p[j], p[i]
		case r < 19:
			p = p[:i]
		default:
			q := piece.FindAllString(m.seeds[m.IntN(len(m.seeds))], -1)
			p = append(p[:i:i], q[m.IntN(len(q)):]...)
		}
	}
	return strings.Join(p, "")
}
