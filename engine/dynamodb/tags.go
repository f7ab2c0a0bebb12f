// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// retag changes the tags of a table.
func (df *definer) retag(arn string, change func(t *schema.Table) (*schema.Table, error)) (api.Response, error) {
	df.tables.Lock()
	defer df.tables.Unlock()
	t, err := df.tables.resource(arn)
	if err != nil {
		return nil, err
	}
	r := t.shape.Load().record.clone()
	if r.Table, err = change(r.Table); err != nil {
		return nil, err
	}
	return api.Empty{}, df.tables.redefine(t, r, nil)
}

func (df *definer) tagResource(q *api.TagResource) (api.Response, error) {
	return df.retag(q.ARN, func(t *schema.Table) (*schema.Table, error) { return t.WithTags(q.Tags) })
}

func (df *definer) untagResource(q *api.UntagResource) (api.Response, error) {
	return df.retag(q.ARN, func(t *schema.Table) (*schema.Table, error) { return t.WithoutTags(q.Keys), nil })
}

func (df *definer) listTags(q *api.ListTagsOfResource) (api.Response, error) {
	t, err := df.tables.resource(q.ARN)
	if err != nil {
		return nil, err
	}
	return &api.TagsResponse{Tags: t.shape.Load().Table.Tags}, nil
}
