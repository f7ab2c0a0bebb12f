// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"crypto/md5"

	"github.com/evenkeel/evenkeel/cql/eval"
)

// ResultID returns the id of the metadata of a SELECT's result, for protocol v5. It is the one that Cassandra gives
// (ResultSet.ResultMetadata.computeResultMetadataId): it depends on the names and types of the columns, and not on the
// table. So a client that has prepared the statement on one table has the id of the same columns of another.
func (s *Select) ResultID() [md5.Size]byte {
	h := md5.New()
	for i, c := range s.Columns {
		class := c.Type.Class()
		if of, ok := s.Selection.Exprs[i].(*eval.Column); ok && of.Column.Desc && !s.JSON {
			class = "org.apache.cassandra.db.marshal.ReversedType(" + class + ")"
		}
		h.Write([]byte(c.Name))
		h.Write([]byte{0})
		h.Write([]byte(class))
		h.Write([]byte{0, 0})
	}
	var id [md5.Size]byte
	h.Sum(id[:0])
	return id
}
