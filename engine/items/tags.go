// SPDX-License-Identifier: Apache-2.0

package items

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// resource returns the table with an ARN.
func (s *Store) resource(arn string) (*table, error) {
	name := arn[strings.LastIndexByte(arn, '/')+1:]
	t := s.tables.all()[name]
	if t == nil || t.shape.Load().Table.ARN != arn {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: ResourcArn: %s not found", arn)
	}
	return t, nil
}

// retag changes the tags of a table.
func (s *Store) retag(arn string, change func(t *schema.Table) (*schema.Table, error)) (api.Response, error) {
	s.tables.Lock()
	defer s.tables.Unlock()
	t, err := s.resource(arn)
	if err != nil {
		return nil, err
	}
	r := t.shape.Load().record.clone()
	if r.Table, err = change(r.Table); err != nil {
		return nil, err
	}
	return api.Empty{}, s.tables.redefine(t, r, nil)
}

func (s *Store) tagResource(q *api.TagResource) (api.Response, error) {
	return s.retag(q.ARN, func(t *schema.Table) (*schema.Table, error) { return t.WithTags(q.Tags) })
}

func (s *Store) untagResource(q *api.UntagResource) (api.Response, error) {
	return s.retag(q.ARN, func(t *schema.Table) (*schema.Table, error) { return t.WithoutTags(q.Keys), nil })
}

func (s *Store) listTags(q *api.ListTagsOfResource) (api.Response, error) {
	t, err := s.resource(q.ARN)
	if err != nil {
		return nil, err
	}
	return &api.TagsResponse{Tags: t.shape.Load().Table.Tags}, nil
}
