package dynamodoor

import (
	"context"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// tagPrefix begins the tags that declare a table write-sharded.
const tagPrefix = "write-sharding"

// Unsharded is a store whose tables are all plain: a table that is declared
// write-sharded is refused, not served as a plain one.
func Unsharded(s Store) Store { return unsharded{s} }

type unsharded struct{ Store }

func (u unsharded) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	var tags []schema.Tag
	switch operation {
	case "CreateTable":
		var d api.Decoder
		var q api.CreateTable
		if err := q.Decode(&d, body); err != nil {
			return dst, err
		}
		tags = q.Tags
	case "TagResource":
		var d api.Decoder
		var q api.TagResource
		if err := q.Decode(&d, body); err != nil {
			return dst, err
		}
		tags = q.Tags
	}
	for _, t := range tags {
		if strings.HasPrefix(t.Key, tagPrefix) {
			return dst, exception.InvalidParameters("the tag %s declares write sharding, which this version does not do for DynamoDB tables; leave the tag out to have a plain table", t.Key)
		}
	}
	return u.Store.Do(ctx, operation, body, dst)
}
