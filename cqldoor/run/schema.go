package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cqldoor"
)

// schemaSide serves what is about the schema: DDL, and the schema as it is shown.
type schemaSide struct{ r *Router }

func newSchemaSide(r *Router) *schemaSide { return &schemaSide{r} }

// serve takes a QUERY or PREPARE that is about the schema; false leaves it.
func (x *schemaSide) serve(ctx context.Context, req *cqldoor.Request, keyspace, text string) bool {
	return false
}
