package dynamodiff

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/remote"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
)

// frontOf serves a door in front of another, for the life of the test.
func frontOf(t testing.TB, behind Target, fanout int) Target {
	t.Helper()
	at, err := remote.ParseEndpoint(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	store, err := remote.New(remote.Options{Endpoint: at, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
	if err != nil {
		t.Fatal(err)
	}
	router := run.New(run.Options{Backend: store, Fanout: fanout, Lease: 20 * time.Millisecond})
	if err := router.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	door, err := dynamodoor.New(dynamodoor.Options{Store: router})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(door)
	t.Cleanup(func() {
		server.Close()
		store.Close()
	})
	return Target{Name: "front of " + behind.Name, URL: server.URL}
}

// TestForwarding: on plain tables a door in front of another answers what that
// answers, text for text, errors too, but for what two stores tell apart.
func TestForwarding(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, c := range []struct {
		name string
		make func() (alone, behind Target)
	}{
		{"dynalite", func() (Target, Target) { return judge(t), judge(t) }},
		{"evenkeel", func() (Target, Target) { return bareDoor(t), bareDoor(t) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			alone, behind := c.make()
			front := frontOf(t, behind, 4)
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				steps, err := ParseScript(string(text))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range steps {
					w, err := alone.Do(s.Operation, s.Body)
					if err != nil {
						t.Fatal(err)
					}
					g, err := front.Do(s.Operation, s.Body)
					if err != nil {
						t.Fatal(err)
					}
					if s.Operation == "DescribeEndpoints" {
						continue // which the front refuses
					}
					if diff := cmp.Diff(w.withoutVolatile(), g.withoutVolatile()); diff != "" {
						t.Errorf("%s:%d: %s %s\n(- %s, + %s)\n%s", file, s.Line, s.Operation, s.Body, alone.Name, front.Name, diff)
					}
				}
			}
		})
	}
}

// withoutVolatile is an answer as it came, but for ids and times.
func (a Answer) withoutVolatile() Answer {
	a.Body = withoutVolatile(a.Body)
	return a
}

func withoutVolatile(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if !volatile[name] {
				out[name] = withoutVolatile(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutVolatile(v[i])
		}
		return out
	}
	return v
}

// TestLawInFront is TestLaw with a door in front of another evenkeel, and of
// dynalite, over HTTP: what is plain is asked of the store behind itself.
func TestLawInFront(t *testing.T) {
	for _, c := range []struct{ shards, fanout int }{{1, 1}, {3, 8}, {16, 4}} {
		t.Run(fmt.Sprintf("evenkeel,shards=%d,fanout=%d", c.shards, c.fanout), func(t *testing.T) {
			plain, sharded := engineDoor(t, 1), frontOf(t, bareDoor(t), c.fanout)
			lawful(t, plain, sharded, c.shards, false)
		})
	}
	t.Run("dynalite,shards=3,fanout=8", func(t *testing.T) {
		plain, sharded := judge(t), frontOf(t, judge(t), 8)
		lawful(t, plain, sharded, 3, true)
	})
}

// lawful sends histories to a plain store and to one whose tables are sharded.
func lawful(t *testing.T, plain, sharded Target, shards int, forJudge bool) {
	t.Helper()
	tag := fmt.Sprintf(`,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=%d"}`, shards)
	indexTag := fmt.Sprintf(`,{"Key":"write-sharding.index.global","Value":"shards=%d"}`, shards+1)
	rapid.Check(t, func(t *rapid.T) {
		draw(t, forJudge, func(h *history, operation, body string) Answer {
			w, err := plain.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if operation == "CreateTable" && h.sort != "" {
				body = strings.TrimSuffix(body, "}") + tag
				if h.glob && !forJudge && rapid.Bool().Draw(t, "sharded index") {
					body += indexTag
				}
				body += "]}"
			}
			g, err := sharded.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(fmt.Sprint(g.Body), "evenkeel.") {
				t.Fatalf("%s %s\nshows what is hidden: %s", operation, body, g)
			}
			a, b := w.General(), g.General()
			if operation == "Scan" || operation == "Query" && strings.Contains(body, `"IndexName"`) {
				if strings.Contains(body, `"Limit"`) || strings.Contains(body, `"ExclusiveStartKey"`) {
					return w // pages of another order
				}
				if operation == "Query" {
					if diff := cmp.Diff(sequence(a), sequence(b)); diff != "" {
						t.Fatalf("%s %s: the order of the index\n(- plain, + %d shards)\n%s", operation, body, shards, diff)
					}
				}
				a, b = unordered(a), unordered(b)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("%s %s\n(- plain, + %d shards)\n%s", operation, body, shards, diff)
			}
			return w
		})
	})
}
