// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// A request may name a table by its ARN; the answer then does so too. Source: API reference,
// ConsumedCapacity ("if you had specified the ARN of a table in the input, you'll see the table ARN
// in the response") and BatchGetItem. The plan's physical requests use names, and it puts the ARNs
// back into the answers.

const arnPrefix = "arn:"

// arns holds the ARNs in a request by the names of the tables.
type arns map[string]string

func (a *arns) add(name string) {
	if !strings.HasPrefix(name, arnPrefix) {
		return
	}
	if *a == nil {
		*a = make(arns)
	}
	(*a)[api.TableName(name)] = name
}

// arnsOf returns the ARNs in a request. The answer to a Query over several shards needs none,
// because it uses the request's own name.
func arnsOf(q api.Request) (a arns) {
	api.EachTable(q, func(name string) { a.add(name) })
	return a
}

// rename replaces a table's name by its ARN.
func (a arns) rename(name *string) {
	if arn, ok := a[*name]; ok {
		*name = arn
	}
}

// named makes the answers of a plan name tables as the request does.
func (a arns) named(p Plan) Plan {
	d, ok := p.(*Direct)
	if !ok || a == nil {
		return p
	}
	answer := d.answer
	d.answer = func(r api.Response) error {
		if err := answer(r); err != nil {
			return err
		}
		a.answer(r)
		return nil
	}
	return d
}

func (a arns) answer(r api.Response) {
	switch r := r.(type) {
	case *api.ItemResponse:
		if r.Capacity != nil {
			a.rename(&r.Capacity.Table)
		}
	case *api.ItemsResponse:
		if r.Capacity != nil {
			a.rename(&r.Capacity.Table)
		}
	case *api.BatchGetResponse:
		for i := range r.Tables {
			a.rename(&r.Tables[i].Table)
		}
		for i := range r.Unprocessed {
			a.rename(&r.Unprocessed[i].Table)
		}
		a.figures(r.Capacity, nil)
	case *api.BatchWriteResponse:
		for i := range r.Unprocessed {
			a.rename(&r.Unprocessed[i].Table)
		}
		a.figures(r.Capacity, r.Metrics)
	case *api.TransactGetResponse:
		a.figures(r.Capacity, nil)
	case *api.TransactWriteResponse:
		a.figures(r.Capacity, r.Metrics)
	}
}

func (a arns) figures(capacity []api.ConsumedCapacity, metrics []api.TableMetrics) {
	for i := range capacity {
		a.rename(&capacity[i].Table)
	}
	for i := range metrics {
		a.rename(&metrics[i].Table)
	}
}
