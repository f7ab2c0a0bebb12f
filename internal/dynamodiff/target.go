// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// Target is a door to compare.
type Target struct {
	Name string
	URL  string

	hasty bool // Do does not wait for tables
}

// once is the target whose Do sends the request, and waits for nothing.
func (t Target) once() Target {
	t.hasty = true
	return t
}

// Answer is what a door answers.
type Answer struct {
	Status int
	Body   any // as JSON; text where it is none
}

// authorization is of the form that doors ask for; nobody checks it.
const authorization = "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00"

// Do sends a request, and after one about a table waits until the table is as the
// request wants it.
func (t Target) Do(operation, body string) (Answer, error) {
	a, err := t.send(operation, body)
	if err != nil || t.hasty || a.Status != http.StatusOK || operation != "CreateTable" && operation != "UpdateTable" && operation != "DeleteTable" {
		return a, err
	}
	var named struct{ TableName string }
	if err := json.Unmarshal([]byte(body), &named); err != nil {
		return a, fmt.Errorf("%s: %s: %w", t.Name, operation, err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		d, err := t.send("DescribeTable", fmt.Sprintf(`{"TableName":%q}`, named.TableName))
		if err != nil {
			return a, err
		}
		if operation == "DeleteTable" && d.Status != http.StatusOK || operation != "DeleteTable" && d.active() {
			return a, nil
		}
	}
	return a, fmt.Errorf("%s: table %s is not settled after 20 s", t.Name, named.TableName)
}

// active tells whether a description's table and indexes are.
func (a Answer) active() bool {
	m, _ := a.Body.(map[string]any)
	table, _ := m["Table"].(map[string]any)
	indexes, _ := table["GlobalSecondaryIndexes"].([]any)
	for _, ix := range indexes {
		if m, _ := ix.(map[string]any); m["IndexStatus"] != "ACTIVE" {
			return false
		}
	}
	return table["TableStatus"] == "ACTIVE"
}

func (t Target) send(operation, body string) (Answer, error) {
	req, err := http.NewRequest(http.MethodPost, t.URL+"/", strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", api.Target(operation))
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	req.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %s: %w", t.Name, operation, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %s: %w", t.Name, operation, err)
	}
	a := Answer{Status: resp.StatusCode}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&a.Body) != nil {
		a.Body = string(text)
	}
	return a, nil
}

// volatile are members that differ from one door, or run, to the next.
var volatile = map[string]bool{
	"TableId": true, "CreationDateTime": true, "LastIncreaseDateTime": true, "LastDecreaseDateTime": true,
	"LastUpdateToPayPerRequestDateTime": true, "LatestStreamLabel": true, "LatestStreamArn": true,
	// Newer than dynalite, or shown by it alone.
	"DeletionProtectionEnabled": true, "TableThroughputModeSummary": true, "Backfilling": true, "WarmThroughput": true,
}

// dropped are members that AWS no longer shows of a table that is being deleted, and
// dynalite does.
var dropped = map[string]bool{"AttributeDefinitions": true, "KeySchema": true, "LocalSecondaryIndexes": true}

// General is the answer in the form in which doors are compared.
func (a Answer) General() Answer {
	a.Body = general(a.Body)
	return a
}

// general removes what is volatile, makes numbers comparable (0.5, 1 and 1.0), and
// puts in order what has none: sets, and the lists of descriptions.
func general(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if volatile[name] || v["TableStatus"] == "DELETING" && dropped[name] {
				continue
			}
			if name == "message" {
				name = "Message" // some of AWS's errors have it this way, some that
			}
			e = general(e)
			if m, ok := e.(map[string]any); ok && len(m) == 0 && name == "Attributes" {
				continue // UPDATED_OLD of what was not there: AWS has no Attributes then
			}
			switch name {
			case "SS", "NS", "BS", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "NonKeyAttributes":
				if list, ok := e.([]any); ok {
					e = sorted(list)
				}
			}
			out[name] = e
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = general(e)
		}
		return out
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	}
	return v
}

func sorted(list []any) []any {
	keyed := make(map[string]any, len(list))
	keys := make([]string, 0, len(list))
	for _, e := range list {
		text, err := json.Marshal(e)
		if err != nil {
			return list // it came from JSON, and goes back
		}
		keys = append(keys, string(text))
		keyed[string(text)] = e
	}
	out := make([]any, 0, len(list))
	for _, k := range slices.Sorted(slices.Values(keys)) {
		out = append(out, keyed[k])
	}
	return out
}

// String is the answer for people.
func (a Answer) String() string {
	text, err := json.MarshalIndent(a.Body, "  ", " ")
	if err != nil {
		return fmt.Sprintf("%d %v", a.Status, a.Body)
	}
	return fmt.Sprintf("%d %s", a.Status, text)
}
