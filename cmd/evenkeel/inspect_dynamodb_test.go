// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/internal/testkit/dynalite"
	"github.com/evenkeel/evenkeel/workbench/advice"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// plantDynamoDB makes a table of invoices, of which one has half of the items, and an
// index by country, of which nine of ten are USA. It returns how many items each
// invoice has.
func plantDynamoDB(t *testing.T, url, name, sharding string) map[string]int64 {
	t.Helper()
	c := dynamodb.New(dynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("InvoiceNumber"), AttributeType: "S"}, {AttributeName: aws.String("Transaction"), AttributeType: "N"}, {AttributeName: aws.String("country"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("InvoiceNumber"), KeyType: "HASH"}, {AttributeName: aws.String("Transaction"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-country"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("country"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
	if sharding != "" {
		in.Tags = []types.Tag{{Key: aws.String("write-sharding"), Value: &sharding}}
	}
	if _, err := c.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	text := strings.Repeat("x", 900)
	var puts []types.WriteRequest
	flush := func() {
		for deadline := time.Now().Add(patience); len(puts) > 0; time.Sleep(20 * time.Millisecond) {
			_, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{name: puts}})
			if err == nil {
				puts = puts[:0]
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	for i := range 3000 {
		invoice := fmt.Sprintf("inv-%d", i%300)
		if i%2 == 0 {
			invoice = "Hot-Invoice"
		}
		country := "USA"
		if i%10 == 3 {
			country = fmt.Sprint("C", i%7)
		}
		counts[invoice]++
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
			"InvoiceNumber": &types.AttributeValueMemberS{Value: invoice}, "Transaction": &types.AttributeValueMemberN{Value: fmt.Sprint(i)},
			"country": &types.AttributeValueMemberS{Value: country}, "text": &types.AttributeValueMemberS{Value: text},
		}}})
		if len(puts) == 25 {
			flush()
		}
	}
	flush()
	return counts
}

// TestInspectDynamoDB inspects planted tables of the embedded engine and of dynalite: inspect must
// count sizes, name the largest item collections, and judge indexes.
func TestInspectDynamoDB(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	for store, url := range map[string]string{"engine": "http://" + startDynamoDB(t), "dynalite": dynalite.Start(t)} {
		t.Run(store, func(t *testing.T) {
			counts := plantDynamoDB(t, url, "Invoices", "")
			address := strings.Replace(url, "http", "dynamodb", 1) + "/Invoices"
			state := filepath.Join(t.TempDir(), "state.json")
			page := filepath.Join(t.TempDir(), "page.html")
			r, errs := inspected(t, 0, address, "--state", state, "--html", page, "--top", "50")
			if !strings.Contains(errs, "the whole table will take about") || !strings.Contains(errs, "read units; known from") {
				t.Errorf("the prediction: %s", errs)
			}
			if r.Partitions.Value != float64(len(counts)) || r.Rows.Value != 3000 || r.Table != "Invoices" || r.Coverage.Read != 1 {
				t.Errorf("%+v %+v", r.Totals, r.Coverage)
			}
			for _, l := range r.Largest {
				if l.Rows != counts[l.Key[0].Value] {
					t.Errorf("%+v, planted are %d", l, counts[l.Key[0].Value])
				}
			}
			// By AWS's rules: names (13+11+7+4), invoice, number, country, text.
			if hot := r.Largest[0]; hot.Key[0].Value != "Hot-Invoice" || math.Abs(hot.Share-0.5) > 0.01 || math.Abs(float64(hot.Bytes)/1500-952) > 3 {
				t.Errorf("the largest: %+v", hot)
			}
			if ix := r.DynamoDB.Indexes; len(ix) != 1 || ix[0].Entries.Value != 3000 || ix[0].Partitions.Value != 8 || ix[0].Largest[0].Key[0].Value != "USA" || math.Abs(ix[0].Largest[0].Share-0.9) > 1e-9 || ix[0].Finding == nil {
				t.Errorf("indexes: %+v", ix)
			}
			names := map[string]bool{}
			for _, f := range r.Key.Findings {
				names[f.Name] = f.Warning
			}
			if !names["partition skew"] || !names["write-hot index"] || len(names) != 2 {
				t.Errorf("findings: %+v", r.Key.Findings)
			}
			if len(r.Hidden) == 0 || !strings.Contains(r.Hidden[0].Command, "contributor-insights") {
				t.Errorf("what is unknown: %+v", r.Hidden)
			}
			html, err := os.ReadFile(page)
			if err != nil || strings.Contains(string(html), "Hot-Invoice") || !strings.Contains(string(html), "10 GB") || !strings.Contains(string(html), "Secondary indexes") {
				t.Errorf("the page: %v", err)
			}
			time.Sleep(time.Second)
			r, _ = inspected(t, 0, address, "--state", state)
			if r.Growth == nil || r.Growth.RowsPerDay.Value != 0 {
				t.Errorf("growth: %+v (%s)", r.Growth, r.GrowthNote)
			}
			// A sample has whole item collections, and says what it does not know.
			r, _ = inspected(t, 0, address, "--state", "none", "--sample", "30%", "--top", "50")
			if r.Coverage.Mode != "sample" || math.Abs(r.Coverage.Read-0.3) > 0.02 || r.Partitions.Low > float64(len(counts)) || r.Partitions.High < float64(len(counts)) {
				t.Errorf("a sample: %+v %+v", r.Coverage, r.Partitions)
			}
			for _, l := range r.Largest {
				if l.Rows != counts[l.Key[0].Value] {
					t.Errorf("in a sample: %+v, planted are %d", l, counts[l.Key[0].Value])
				}
			}
			// What costs more than a dollar wants a yes; money is said before.
			dear := filepath.Join(t.TempDir(), "prices.yaml")
			if err := os.WriteFile(dear, []byte("date: 2026-01-01\ncurrency: USD\nlists:\n  - {store: dynamodb, region: us-east-1, million_write_units: 1, million_read_units: 4000, gb_month: 1}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, errs := inspected(t, 1, address, "--state", "none", "--prices", dear, "--whole"); !strings.Contains(errs, "USD (prices of 2026-01-01, us-east-1)") || !strings.Contains(errs, "that is much") || !strings.Contains(errs, "hint: --yes reads it; --sample 0.") {
				t.Errorf("dear: %s", errs)
			}
			if r, _ := inspected(t, 0, address, "--state", "none", "--prices", dear, "--whole", "--yes"); r.Rows.Value != 3000 || r.Prediction.Money < 1 || r.Prediction.ReadUnits < 300 {
				t.Errorf("dear, with a yes: %+v", r.Prediction)
			}
			if r, _ := inspected(t, 0, address, "--state", "none", "--prices", dear); r.Coverage.Mode != "sample" || r.Prediction.Money > 1 {
				t.Errorf("dear, without a word: %+v %+v", r.Coverage, r.Prediction)
			}
			var out bytes.Buffer
			if code := run([]string{"inspect", address, "--state", "none"}, &out, new(bytes.Buffer)); code != 0 {
				t.Fatal(code)
			}
			for _, want := range []string{"Invoices, DynamoDB's API at 127.0.0.1:", "partition key and sort key: HASH InvoiceNumber, RANGE Transaction", "InvoiceNumber=Hot-Invoice", "index by-country, global: HASH country; ALL", "country=USA", "on demand", "warning", "Contributor Insights"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
			if _, errs := inspected(t, 1, strings.Replace(address, "Invoices", "Invoicez", 1)); !strings.Contains(errs, "there is no table Invoicez") || !strings.Contains(errs, "did you mean Invoices?") {
				t.Errorf("%s", errs)
			}
		})
	}
}

// TestInspectDynamoDBGoesOn interrupts an inspection, and lets another one finish it.
func TestInspectDynamoDBGoesOn(t *testing.T) {
	url := "http://" + startDynamoDB(t)
	counts := plantDynamoDB(t, url, "Invoices", "strategy=calculated shards=5")
	address := strings.Replace(url, "http", "dynamodb", 1) + "/Invoices"
	state := filepath.Join(t.TempDir(), "state.json")
	cmd := &inspectCmd{Table: address, State: state, Top: 10, Target: "auto", Region: "us-east-1", JSON: true}
	if err := cmd.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd.added = func(int) { cancel() }
	var out, errs bytes.Buffer
	err := cmd.inspect(ctx, &stdio{&out, &errs})
	var code *coded
	if err == nil || !errors.As(err, &code) || code.code != partialResult {
		t.Fatalf("interrupted: %v\n%s", err, &errs)
	}
	part := &inspection.Report{}
	if err := json.Unmarshal(out.Bytes(), part); err != nil || !part.Coverage.Partial || part.Coverage.Done == 0 || part.Coverage.Done == part.Coverage.Ranges {
		t.Fatalf("%v %+v", err, part.Coverage)
	}
	text, err := os.ReadFile(state)
	if err != nil || strings.Contains(string(text), "Hot-Invoice") || strings.Contains(string(text), "inv-") {
		t.Errorf("the state has keys: %v", err)
	}
	r, said := inspected(t, 0, address, "--state", state)
	if !strings.Contains(said, "continuing the inspection of") {
		t.Errorf("%s", said)
	}
	if l := r.Logical; r.Rows.Value != 3000 || l == nil || l.Partitions.Value != float64(len(counts)) || l.PhysicalMax != 5 || r.Sharding == "" {
		t.Errorf("%+v %+v %q", r.Totals, r.Logical, r.Sharding)
	}
	// Keys that the first call read are found again.
	for _, l := range r.Largest {
		if l.Key == nil {
			t.Errorf("a key is lost: %+v", l)
		}
	}
	if hot := r.Largest[0]; hot.Key[0].Value != "Hot-Invoice" || hot.Rows < 200 || hot.Rows > 400 {
		t.Errorf("the largest physical partition: %+v", hot)
	}
}

// TestAdviseDynamoDB gives advice on a live table, for DynamoDB by default, and
// simulates keys of it.
func TestAdviseDynamoDB(t *testing.T) {
	url := "http://" + startDynamoDB(t)
	plantDynamoDB(t, url, "Invoices", "")
	address := strings.Replace(url, "http", "dynamodb", 1) + "/Invoices"
	asked := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(asked, []byte("SELECT * FROM Invoices WHERE InvoiceNumber = ? -- 5/s\nINSERT INTO Invoices (InvoiceNumber, Transaction, country, text) VALUES (?, ?, ?, ?) -- 5000/s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"advise", address, "--queries", asked, "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	r := &advice.Report{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	if r.Target != advice.DynamoDB || r.Rows != 3000 || r.Data != address || r.Verdict == nil || r.Verdict.PartitionKey[0] != "InvoiceNumber" || r.Verdict.Shards < 2 {
		t.Errorf("%s: %d rows, %s, %+v", r.Target, r.Rows, r.Data, r.Verdict)
	}
	if len(r.Verdict.DDL) == 0 || !strings.Contains(r.Verdict.DDL[0], `"TableName": "Invoices"`) {
		t.Errorf("%s", r.Verdict.DDL)
	}
	if !strings.Contains(errs.String(), "read units; known from what the table says of itself") {
		t.Errorf("%s", &errs)
	}
	out.Reset()
	if code := run([]string{"simulate", address, "--key", "InvoiceNumber", "--key", "InvoiceNumber,salt(Transaction,8)", "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	s := &simulation.Report{}
	if err := json.Unmarshal(out.Bytes(), s); err != nil || s.Rows != 3000 || len(s.Keys) != 2 || s.Keys[0].Max < 1500 || s.Keys[1].Max > 1200 {
		t.Errorf("%v %+v", err, s)
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"advise", "dynamodb://localhost/Invoices"}, "hint: an endpoint of your own has a port: dynamodb://localhost:8000/Invoices", 1},
		{[]string{"inspect", "dynamodb://localhost/Invoices"}, "hint: an endpoint of your own has a port: dynamodb://localhost:8000/Invoices", 2},
		{[]string{"inspect", address, "--tls"}, "TLS is dynamodb+https://host/table", 2},
		{[]string{"simulate", "x.csv", "--key", "a", "--yes"}, "are for live tables", 2},
	} {
		errs.Reset()
		if code := run(c.args, new(bytes.Buffer), &errs); code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: %d %s", c.args, code, &errs)
		}
	}
}

// TestInspectDynamoDBPrices checks that inspect gives amounts of money only for regions with known
// prices, and none for the user's own endpoint.
func TestInspectDynamoDBPrices(t *testing.T) {
	for address, want := range map[string]string{"dynamodb://us-east-1/Invoices": "us-east-1", "dynamodb://eu-west-9/Invoices": "", "dynamodb://127.0.0.1:8000/Invoices": ""} {
		var errs bytes.Buffer
		c := &inspectCmd{Table: address, Target: "auto", Region: "us-east-1"}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		list, err := (&dynamoSurvey{survey: survey{cmd: c, std: &stdio{io.Discard, &errs}}}).prices()
		if err != nil || (list != nil) != (want != "") || list != nil && list.Region != want || strings.Contains(address, "eu-west-9") != strings.Contains(errs.String(), "knows no prices for eu-west-9") {
			t.Errorf("%s: %v %v %s", address, list, err, &errs)
		}
	}
}
