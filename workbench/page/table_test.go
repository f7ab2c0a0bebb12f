// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/internal/testkit/endpoint"
)

// dynamoTable serves a DynamoDB table, and returns its address.
func dynamoTable(t *testing.T) string {
	t.Helper()
	router, url := endpoint.Start(t, run.Options{})
	do := func(operation, body string) {
		t.Helper()
		if _, err := router.Do(t.Context(), operation, []byte(body), nil); err != nil {
			t.Fatal(err)
		}
	}
	do("CreateTable", `{"TableName":"Invoices","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"InvoiceNumber","AttributeType":"S"},{"AttributeName":"Transaction","AttributeType":"N"}],"KeySchema":[{"AttributeName":"InvoiceNumber","KeyType":"HASH"},{"AttributeName":"Transaction","KeyType":"RANGE"}]}`)
	for i := range 500 {
		do("PutItem", fmt.Sprintf(`{"TableName":"Invoices","Item":{"InvoiceNumber":{"S":"inv-%d"},"Transaction":{"N":"%d"},"country":{"S":"USA"}}}`, i%20, i))
	}
	return strings.Replace(url, "http", "dynamodb", 1) + "/Invoices"
}

// TestLiveDynamoDB checks that a live DynamoDB table needs the token, too, and is judged as a file
// is, several times.
func TestLiveDynamoDB(t *testing.T) {
	address := dynamoTable(t)
	p, url := serve(t)
	if status, text := post(t, url+"workbench/live", `{"address":"`+address+`","token":"wrong"}`); status != 403 || !strings.Contains(text, "token") {
		t.Errorf("without the token: %d %s", status, text)
	}
	open := func(address string) (int, string) {
		return post(t, url+"workbench/live", `{"address":"`+address+`","token":"`+p.Token()+`"}`)
	}
	if status, text := open(address + "s"); status != 422 || !strings.Contains(text, "there is no table Invoicess") {
		t.Errorf("another table: %d %s", status, text)
	}
	if status, text := open("dynamodb://localhost/Invoices"); status != 422 || !strings.Contains(text, "has no port") {
		t.Errorf("no port: %d %s", status, text)
	}
	status, text := open(address)
	_, id, _ := strings.Cut(text, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if status != 200 || id == "" {
		t.Fatalf("%d %s", status, text)
	}
	for range 2 {
		ask := `{"id":"` + id + `","target":"dynamodb","queries":"SELECT * FROM Invoices WHERE InvoiceNumber = ? -- 5/s\nINSERT INTO Invoices (InvoiceNumber, Transaction, country) VALUES (?, ?, ?) -- 50/s"}`
		if status, text := post(t, url+"workbench/advise", ask); status != 200 || !strings.Contains(text, "500 rows") || !strings.Contains(text, `"verdict":true`) || !strings.Contains(text, "InvoiceNumber") {
			t.Errorf("%d %.600s", status, text)
		}
		if status, text := post(t, url+"workbench/compare", `{"id":"`+id+`","designs":[0],"shards":4}`); status != 200 || !strings.Contains(text, "svg class") {
			t.Errorf("%d %.300s", status, text)
		}
	}
	post(t, url+"workbench/forget?id="+id, "")
}
