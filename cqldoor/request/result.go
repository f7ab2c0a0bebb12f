// SPDX-License-Identifier: Apache-2.0

package request

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// AggregateWarnings returns Cassandra's warnings for aggregates over several partitions.
func AggregateWarnings(b *analysis.BoundSelect) []string {
	if w := b.AggregateWarning(); w != "" {
		return []string{w}
	}
	return nil
}

// Metadata returns the metadata of a SELECT's result, without the columns if the client knows them.
// metadataID is the id in an EXECUTE of v5, nil for a QUERY.
func (s *Statement) Metadata(v wire.Version, params *wire.Params, metadataID []byte) wire.Metadata {
	m := EncodeColumns(v, s.Head.Table, s.Sel.Logical.Columns)
	changed := v >= wire.V5 && metadataID != nil && string(metadataID) != string(s.MetadataID[:])
	if params.Has(wire.QuerySkipMetadata) && !changed {
		m = wire.Metadata{Flags: wire.MetadataNone, Count: m.Count}
	}
	if changed {
		m.Flags |= wire.MetadataNewID
		m.NewID = s.MetadataID[:]
	}
	return m
}

// MaxResult is the largest number of bytes of rows in a result. Drivers refuse a frame of more
// than 256 MiB.
const MaxResult = 255 << 20

// ErrLong refuses a result that is too long for one message.
var ErrLong = wire.Errorf(wire.CodeServer, "evenkeel: the result is longer than the 256 MiB that fit into one message; read it in pages, or less of it")
