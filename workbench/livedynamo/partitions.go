// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// ErrNoPartitions says that the store does not show its partitions. AWS never does. An evenkeel
// engine does if it enforces DynamoDB's limits.
var ErrNoPartitions = errors.New("the store does not tell its partitions")

// maxMap is the greatest length of the answer, in bytes.
const maxMap = 64 << 20

// Partitions reads the partitions of the table, or of a global index.
func (t *Table) Partitions(ctx context.Context, index string) (*api.PartitionsResponse, error) {
	if t.at.Endpoint == "" {
		return nil, ErrNoPartitions
	}
	answer, err := t.call(ctx, &api.DescribePartitions{Table: t.at.Table, Index: index})
	if err != nil {
		return nil, err
	}
	r := new(api.PartitionsResponse)
	if err := json.Unmarshal(answer, r); err != nil {
		return nil, fmt.Errorf("partitions of %s: %w", t.at, err)
	}
	return r, nil
}

// call runs an operation that the SDK does not know, and most stores do not have.
func (t *Table) call(ctx context.Context, q api.Request) ([]byte, error) {
	answer, e, err := t.own(ctx, q)
	if err != nil || e == nil {
		return answer, err
	}
	switch kind, _ := exception.ByName(e.Type); kind {
	case exception.UnknownOperation, exception.Validation, exception.InternalServerError:
		// Stores differ in their errors for an operation that they do not have.
		return nil, fmt.Errorf("%w: %s", ErrNoPartitions, e.Message)
	}
	if e.Type == "" {
		return nil, ErrNoPartitions // whatever answered is no evenkeel door
	}
	return nil, fmt.Errorf("%s: %s", e.Type, e.Message)
}

// refusal is an error that a store answered. Type is empty if the answer is of unknown form.
type refusal struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// own runs an operation of an evenkeel door.
func (t *Table) own(ctx context.Context, q api.Request) ([]byte, *refusal, error) {
	body := q.AppendJSON(nil)
	o := t.client.Options()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.at.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", api.Target(q.Operation()))
	credentials, err := o.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), "dynamodb", o.Region, time.Now()); err != nil {
		return nil, nil, err
	}
	var by aws.HTTPClient = o.HTTPClient
	if r, ok := q.(*api.Reshard); ok && readsTable(r) {
		by = t.patient
	}
	resp, err := by.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxMap))
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return answer, nil, nil
	}
	e := new(refusal)
	if json.Unmarshal(answer, e) != nil {
		e = new(refusal)
	}
	return nil, e, nil
}
