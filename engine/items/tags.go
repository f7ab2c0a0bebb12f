package items

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// maxTags is how many tags a table may have.
const maxTags = 50

// resource returns the table with an ARN.
func (s *Store) resource(arn string) (*table, error) {
	name := arn[strings.LastIndexByte(arn, '/')+1:]
	t := (*s.tables.Load())[name]
	if t == nil || t.shape.Load().Table.ARN != arn {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: ResourcArn: %s not found", arn)
	}
	return t, nil
}

// retag gives a table other tags.
func (s *Store) retag(arn string, change func(tags []schema.Tag) []schema.Tag) (api.Response, error) {
	s.defining.Lock()
	defer s.defining.Unlock()
	t, err := s.resource(arn)
	if err != nil {
		return nil, err
	}
	r := t.shape.Load().record.clone()
	r.Table.Tags = change(slices.Clone(r.Table.Tags))
	if len(r.Table.Tags) > maxTags {
		return nil, exception.Invalid("One or more parameter values were invalid: Too many tags: a table can have %d", maxTags)
	}
	slices.SortFunc(r.Table.Tags, func(a, b schema.Tag) int { return cmp.Compare(a.Key, b.Key) })
	return api.Empty{}, s.redefine(t, r, nil)
}

func (s *Store) tagResource(q *api.TagResource) (api.Response, error) {
	return s.retag(q.ARN, func(tags []schema.Tag) []schema.Tag {
		for _, tag := range q.Tags {
			tags = slices.DeleteFunc(tags, func(t schema.Tag) bool { return t.Key == tag.Key })
			tags = append(tags, tag)
		}
		return tags
	})
}

func (s *Store) untagResource(q *api.UntagResource) (api.Response, error) {
	return s.retag(q.ARN, func(tags []schema.Tag) []schema.Tag {
		return slices.DeleteFunc(tags, func(t schema.Tag) bool { return slices.Contains(q.Keys, t.Key) })
	})
}

func (s *Store) listTags(q *api.ListTagsOfResource) (api.Response, error) {
	t, err := s.resource(q.ARN)
	if err != nil {
		return nil, err
	}
	return respond(&api.TagsResponse{Tags: t.shape.Load().Table.Tags}), nil
}
