// SPDX-License-Identifier: Apache-2.0

package roundtripper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	dynamodbengine "github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func engine(t *testing.T) *dynamodbengine.Store {
	t.Helper()
	return itemstore.Open(t, dynamodbengine.Options{})
}

// endpoint returns an evenkeel that knows one access key and verifies signatures.
func endpoint(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	keys, err := accesskey.Parse([]byte("- access-key: AKIDCALLER\n  secret-key: secret-of-the-caller\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	door, err := dynamodoor.New(dynamodoor.Options{Store: engine(t), Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		door.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

var caller = credentials.NewStaticCredentialsProvider("AKIDCALLER", "secret-of-the-caller", "")

func open(t *testing.T, o Options) *RoundTripper {
	t.Helper()
	door, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Close)
	return door
}

// client returns the SDK's client. Its signature does not matter.
func client(door *RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("ANY", "any", ""), HTTPClient: door, RetryMaxAttempts: 1,
	})
}

func create(t *testing.T, c *dynamodb.Client, tag string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("Tab"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("h"), AttributeType: "S"}, {AttributeName: aws.String("r"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("h"), KeyType: "HASH"}, {AttributeName: aws.String("r"), KeyType: "RANGE"}},
	}
	if tag != "" {
		in.Tags = []types.Tag{{Key: aws.String("write-sharding"), Value: &tag}}
	}
	if _, err := c.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func item(n int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"h": &types.AttributeValueMemberS{Value: "a"}, "r": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}}
}

func TestTheSDKThroughTheDoor(t *testing.T) {
	url, _ := endpoint(t)
	for name, o := range map[string]Options{"endpoint": {Endpoint: url, Credentials: caller}, "engine": {Store: engine(t)}} {
		t.Run(name, func(t *testing.T) {
			c := client(open(t, o))
			create(t, c, "shards=5")
			var all sync.WaitGroup
			for n := range 50 {
				all.Go(func() {
					if _, err := c.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: item(n)}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			next := 0
			pages := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
				TableName: aws.String("Tab"), KeyConditionExpression: aws.String("h = :h"), Limit: aws.Int32(7),
				ExpressionAttributeValues: map[string]types.AttributeValue{":h": &types.AttributeValueMemberS{Value: "a"}},
			})
			for pages.HasMorePages() {
				page, err := pages.NextPage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range page.Items {
					if got := it["r"].(*types.AttributeValueMemberN).Value; got != fmt.Sprint(next) || len(it) != 2 {
						t.Errorf("%v, not %d", it, next)
					}
					next++
				}
			}
			if next != 50 {
				t.Errorf("%d items", next)
			}
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: item(1), ConditionExpression: aws.String("attribute_not_exists(h)"),
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld})
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) || len(failed.Item) != 2 {
				t.Errorf("%v %v", err, failed)
			}
			var missing *types.ResourceNotFoundException
			if _, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Nope")}); !errors.As(err, &missing) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestRightsAreTheCallers checks that each request has the rights of the door's credentials.
func TestRightsAreTheCallers(t *testing.T) {
	url, _ := endpoint(t)
	if _, err := New(t.Context(), Options{Endpoint: url, Credentials: credentials.NewStaticCredentialsProvider("AKIDOTHER", "secret-of-the-caller", "")}); err == nil ||
		!strings.Contains(err.Error(), "UnrecognizedClientException") {
		t.Errorf("%v", err)
	}
	var revoked atomic.Bool
	door := open(t, Options{Endpoint: url, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		if revoked.Load() {
			return aws.Credentials{AccessKeyID: "AKIDREVOKED", SecretAccessKey: "another"}, nil
		}
		return caller.Retrieve(context.Background())
	})})
	c := client(door)
	create(t, c, "")
	revoked.Store(true)
	if _, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Tab"), Key: item(1)}); err == nil || !strings.Contains(err.Error(), "UnrecognizedClientException") {
		t.Errorf("%v", err)
	}
}

func TestOneRequestIsOne(t *testing.T) {
	url, requests := endpoint(t)
	for _, tag := range []string{"", "shards=5"} {
		c := client(open(t, Options{Endpoint: url, Credentials: caller, Lease: 1 << 40}))
		create(t, c, tag)
		put := func() {
			if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: item(1)}); err != nil {
				t.Fatal(err)
			}
		}
		put()
		requests.Store(0)
		put()
		if n := requests.Load(); n != 1 {
			t.Errorf("tag %q: a put is %d requests", tag, n)
		}
		if _, err := c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Tab")}); err != nil {
			t.Fatal(err)
		}
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestRoundTrip(t *testing.T) {
	door := open(t, Options{Store: engine(t)})
	body := &closing{Reader: strings.NewReader(`{}`)}
	r, err := http.NewRequestWithContext(t.Context(), "POST", "https://dynamodb.eu-west-1.amazonaws.com/", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00")
	resp, err := door.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || resp.Status != "200 OK" || string(text) != `{"TableNames":[]}` || !body.closed || resp.Header.Get("X-Amz-Crc32") == "" ||
		resp.Header.Get("X-Amzn-Requestid") == "" || resp.ContentLength != int64(len(text)) {
		t.Errorf("%s %v %s, closed %v, %v", resp.Status, resp.Header, text, body.closed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := door.RoundTrip(r.WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if resp, err := door.RoundTrip(&http.Request{Method: "GET", URL: r.URL, Header: http.Header{}}); err != nil || resp.StatusCode != 200 {
		t.Errorf("without a body: %v", err)
	}
}

// TestRequestIDs checks that an answer's id is the endpoint's, because AWS's support asks for that
// id.
func TestRequestIDs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("x-amzn-RequestId", "ID-OF-"+r.Header.Get("X-Amz-Target"))
		switch r.Header.Get("X-Amz-Target") {
		case "DynamoDB_20120810.DescribeTable":
			fmt.Fprint(w, `{"Table":{"TableName":"Tab","TableStatus":"ACTIVE","KeySchema":[{"AttributeName":"h","KeyType":"HASH"}]}}`)
		case "DynamoDB_20120810.GetItem":
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"Tab"`) {
				fmt.Fprint(w, `{}`)
				return
			}
			fallthrough
		default:
			w.WriteHeader(400)
			fmt.Fprint(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`)
		}
	}))
	defer server.Close()
	door := open(t, Options{Endpoint: server.URL, Credentials: caller})
	for _, operation := range []string{"GetItem", "PutItem"} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://any/", strings.NewReader(`{"TableName":"Tab"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Date", "20260101T000000Z")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00")
		resp, err := door.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if id := resp.Header.Get("X-Amzn-Requestid"); id != "ID-OF-DynamoDB_20120810."+operation {
			t.Errorf("%s has id %q", operation, id)
		}
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"neither":           {},
		"one of them":       {Endpoint: "http://127.0.0.1:1", Store: engine(t), Credentials: caller},
		"credentials":       {Endpoint: "http://127.0.0.1:1"},
		"lease":             {Store: engine(t), Lease: -1},
		"a URL":             {Endpoint: "localhost", Credentials: caller},
		"cannot be reached": {Endpoint: "http://127.0.0.1:1", Credentials: caller},
	} {
		if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
