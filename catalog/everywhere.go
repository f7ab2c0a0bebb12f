// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Everywhere executes a statement at a level with which every door's reads and writes at LOCAL_QUORUM
// overlap, in the door's own data centre. That is EACH_QUORUM. If the store refuses it, that is ALL, or,
// if one number of replicas counts for all data centres, QUORUM. Amazon Keyspaces has only LOCAL_QUORUM.
func Everywhere(ctx context.Context, s Session, cql string, values ...[]byte) ([]Row, error) {
	rows, err := s.Query(ctx, wire.EachQuorum, cql, values...)
	if !lacks(err) {
		return rows, err
	}
	level := wire.Quorum
	if spans, err := Spans(ctx, s); err != nil {
		return nil, err
	} else if spans {
		level = wire.All
	}
	if rows, err = s.Query(ctx, level, cql, values...); lacks(err) {
		return s.Query(ctx, wire.LocalQuorum, cql, values...)
	}
	return rows, err
}

// lacks reports whether err may say that the store does not have a consistency level.
func lacks(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Code == wire.CodeInvalid || e.Code == wire.CodeProtocol)
}
