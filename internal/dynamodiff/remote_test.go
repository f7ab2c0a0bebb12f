// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/dynamodoor/cache"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/remote"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/endpoint"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
)

// frontOf serves a door in front of another, for the life of the test.
func frontOf(t testing.TB, behind Target, fanout int) Target {
	t.Helper()
	server := httptest.NewServer(doorBefore(t, behind, fanout, 20*time.Millisecond))
	t.Cleanup(server.Close)
	return Target{Name: "front of " + behind.Name, URL: server.URL}
}

// fleetOf serves so many doors in front of another, which answer in turn. Their leases are longer
// than a busy machine stops one request: a write that a change overtakes for longer than a lease has
// an unknown outcome.
func fleetOf(t testing.TB, behind Target, doors, fanout int) Target {
	t.Helper()
	var fleet []http.Handler
	for range doors {
		fleet = append(fleet, doorBefore(t, behind, fanout, 100*time.Millisecond))
	}
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fleet[n.Add(1)%int64(doors)].ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return Target{Name: "fleet in front of " + behind.Name, URL: server.URL}
}

// doorBefore is a door in front of another, with leases that last so long.
func doorBefore(t testing.TB, behind Target, fanout int, lease time.Duration) *dynamodoor.Door {
	t.Helper()
	at, err := remote.ParseEndpoint(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	store, err := remote.New(remote.Options{Endpoint: at, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
	if err != nil {
		t.Fatal(err)
	}
	router := run.New(run.Options{Backend: store, Fanout: fanout, Lease: lease})
	if err := router.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	door, err := dynamodoor.New(dynamodoor.Options{Store: router})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return door
}

// TestInFrontOfADoorThatShards: two doors do not shard one after the other, and the
// way out is told.
func TestInFrontOfADoorThatShards(t *testing.T) {
	front := frontOf(t, engineDoor(t, 1), 1)
	const table = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]`
	for body, want := range map[string]int{table + `}`: 200, strings.Replace(table, `"Tab"`, `"Tab2"`, 1) + `,"Tags":[{"Key":"write-sharding","Value":"shards=3"}]}`: 400} {
		a, err := front.Do("CreateTable", body)
		if err != nil || a.Status != want || want == 400 && !strings.Contains(a.String(), "--dynamodb-sharding off") {
			t.Errorf("%s %v", a, err)
		}
	}
}

// client asks a door, signing with an access key.
type client struct {
	url, id, secret string
}

func (c client) do(t *testing.T, operation, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, c.url+"/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	sum := sha256.Sum256([]byte(body))
	by := aws.Credentials{AccessKeyID: c.id, SecretAccessKey: c.secret}
	if err := v4.NewSigner().SignHTTP(t.Context(), by, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestNoRightsByPooling: who has no rights at the endpoint has none through the door,
// whatever the door knows from others: the catalogue, connections, cached items. The
// endpoint is an evenkeel that knows one access key of the two that the door's clients
// stand for.
func TestNoRightsByPooling(t *testing.T) {
	parse := func(text string, behind bool) *accesskey.Keys {
		keys, err := accesskey.Parse([]byte(text), behind)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	known := parse("- access-key: AKIDDOOR\n  secret-key: secret-of-the-door\n- access-key: AKIDALICE\n  secret-key: secret-of-alice-behind\n", false)
	behind := endpoint.Serve(t, dynamodoor.Options{Store: itemstore.Open(t, dynamodb.Options{}), Keys: known})
	at, err := remote.ParseEndpoint(behind)
	if err != nil {
		t.Fatal(err)
	}
	at2 := map[string]aws.CredentialsProvider{
		"ALICE": credentials.NewStaticCredentialsProvider("AKIDALICE", "secret-of-alice-behind", ""),
		"BOB":   credentials.NewStaticCredentialsProvider("AKIDBOB", "secret-of-bob-behind", ""),
	}
	store, err := remote.New(remote.Options{
		Endpoint: at, Credentials: credentials.NewStaticCredentialsProvider("AKIDDOOR", "secret-of-the-door", ""),
		Of: func(p principal.Principal) aws.CredentialsProvider { return at2[p.ID] },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	router := run.New(run.Options{Backend: store, Lease: time.Hour})
	if err := router.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	cached, err := cache.New(cache.Options{Store: router, Size: 1 << 20, QueryTTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	keys := parse("- access-key: ALICE\n  secret-key: secret-of-alice-front\n  profile: a\n- access-key: BOB\n  secret-key: secret-of-bob-front\n  profile: b\n", true)
	front := endpoint.Serve(t, dynamodoor.Options{Store: cached, Keys: keys})
	alice, bob := client{front, "ALICE", "secret-of-alice-front"}, client{front, "BOB", "secret-of-bob-front"}
	forged := client{front, "ALICE", "secret-of-bob-front"}
	requests := [][2]string{
		{"CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Tags":[{"Key":"write-sharding","Value":"shards=3"}]}`},
		{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"secret"}}}`},
		{"GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}}}`},
		{"GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}}}`}, // of the cache
		{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`},
		{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`},
		{"Scan", `{"TableName":"Tab"}`},
		{"DescribeTable", `{"TableName":"Tab"}`},
		{"ListTables", `{}`},
		{"UpdateItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"y"}}}`},
		{"ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = 'a'"}`},
		{"ExecuteStatement", `{"Statement":"UPDATE Tab SET x = 'z' WHERE h = 'a' AND r = '1'"}`},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"SELECT * FROM Tab WHERE h = 'a' AND r = '1'"}]}`},
		{"DeleteTable", `{"TableName":"Tab"}`},
	}
	for i, q := range requests {
		if q[0] == "DeleteTable" {
			// What is wrong with a statement tells of the table's key, and with a tag of
			// how it is sharded.
			const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab"`
			for _, wrong := range [][2]string{
				{"ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = 1"}`},
				{"ExecuteStatement", `{"Statement":"UPDATE Tab SET x = 1 WHERE h = 'a'"}`},
				{"ExecuteStatement", `{"Statement":"DELETE FROM Tab WHERE r = 'a'"}`},
				{"TagResource", `{` + arn + `,"Tags":[{"Key":"write-sharding","Value":"adopt=suffix shards=3"}]}`},
				{"TagResource", `{` + arn + `,"Tags":[{"Key":"write-sharding.index.i","Value":"strategy=random shards=3"}]}`},
				{"TagResource", `{` + arn + `,"Tags":[{"Key":"write-sharding","Value":"shards=20000"}]}`},
			} {
				if status, text := bob.do(t, wrong[0], wrong[1]); status != 400 || !strings.Contains(text, "UnrecognizedClientException") {
					t.Errorf("bob is told of %s: %d %s", wrong, status, text)
				}
				if status, text := alice.do(t, wrong[0], wrong[1]); status != 400 || !strings.Contains(text, "ValidationException") {
					t.Errorf("alice is not told of %s: %d %s", wrong, status, text)
				}
			}
			plain := `{` + arn + `,"TagKeys":["write-sharding"]}`
			if status, text := bob.do(t, "UntagResource", plain); status != 400 || !strings.Contains(text, "UnrecognizedClientException") {
				t.Errorf("bob may make the table plain: %d %s", status, text)
			}
		}
		if i > 0 { // after alice has made the table, and the door has learnt of it
			status, text := bob.do(t, q[0], q[1])
			if status != 400 || !strings.Contains(text, "UnrecognizedClientException") || strings.Contains(text, "secret") {
				t.Errorf("bob may %s: %d %s", q[0], status, text)
			}
			if status, text := forged.do(t, q[0], q[1]); status != 400 || !strings.Contains(text, "InvalidSignatureException") {
				t.Errorf("whoever says to be alice may %s: %d %s", q[0], status, text)
			}
		}
		if status, text := alice.do(t, q[0], q[1]); status != 200 {
			t.Fatalf("alice may not %s: %d %s", q[0], status, text)
		}
	}
}

// TestForwarding: on plain tables a door in front of another answers what that
// answers, text for text, errors too, but for what two stores tell apart.
func TestForwarding(t *testing.T) {
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
			for _, script := range scripts(t) {
				for _, s := range script.steps {
					w, g := both(t, alone, front, s.Operation, s.Body)
					if s.Operation == "DescribeEndpoints" {
						continue // which the front refuses
					}
					if diff := cmp.Diff(w.withoutVolatile(), g.withoutVolatile()); diff != "" {
						t.Errorf("%s:%d: %s %s\n(- %s, + %s)\n%s", script.file, s.Line, s.Operation, s.Body, alone.Name, front.Name, diff)
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
	t.Run("evenkeel,shards=3,fleet=3", func(t *testing.T) {
		plain, sharded := engineDoor(t, 1), fleetOf(t, bareDoor(t), 3, 4)
		lawful(t, plain, sharded, 3, false)
	})
	t.Run("dynalite,shards=3,fanout=8", func(t *testing.T) {
		plain, sharded := judge(t), frontOf(t, judge(t), 8)
		lawful(t, plain, sharded, 3, true)
	})
}
