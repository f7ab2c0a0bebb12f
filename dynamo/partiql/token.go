// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// A NextToken consists of a version, the beginning of the statement's digest, the number of a read
// (uvarint), the key after which the read continues as DynamoDB JSON (empty: at the beginning of
// the read), and the beginning of the digest of all that. It is encoded in base64. A client that
// forges a token can read only what the statement reads anyway.
const (
	tokenVersion = 1
	digestLen    = 8
)

// Position is the place at which the next page of a SELECT begins.
type Position struct {
	Read  int            // the index of the read; the reads before it are done
	After attribute.Item // nil: from the read's beginning
}

// digest returns a hash of the members of a request that its token belongs to.
func digest(q *api.ExecuteStatement) []byte {
	same := *q
	same.NextToken, same.Limit, same.Capacity, same.ReturnOnFailure = "", 0, 0, false
	sum := sha256.Sum256(same.AppendJSON(nil))
	return sum[:digestLen]
}

// Token returns the token of a position in the answer to a request.
func (p Position) Token(q *api.ExecuteStatement) string {
	b := append([]byte{tokenVersion}, digest(q)...)
	b = binary.AppendUvarint(b, uint64(p.Read))
	if p.After != nil {
		b = attribute.AppendItem(b, p.After)
	}
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(append(b, sum[:digestLen]...))
}

// ParseToken returns the position of a request's token. If there is no token, that is the
// beginning.
func ParseToken(q *api.ExecuteStatement, reads int) (p Position, err error) {
	if q.NextToken == "" {
		return p, nil
	}
	invalid := exception.Invalid("Invalid NextToken")
	b, err := base64.StdEncoding.DecodeString(q.NextToken)
	if err != nil || len(b) < 1+2*digestLen+1 || b[0] != tokenVersion {
		return p, invalid
	}
	b, sum := b[:len(b)-digestLen], b[len(b)-digestLen:]
	if is := sha256.Sum256(b); string(is[:digestLen]) != string(sum) {
		return p, invalid
	}
	if string(b[1:1+digestLen]) != string(digest(q)) {
		return p, exception.Invalid("NextToken does not match request")
	}
	b = b[1+digestLen:]
	n, k := binary.Uvarint(b)
	if k <= 0 || n >= uint64(max(reads, 1)) {
		return p, invalid
	}
	p.Read = int(n)
	if b = b[k:]; len(b) > 0 {
		if p.After, err = new(attribute.Decoder).Item(b); err != nil || p.After.Validate() != nil {
			return p, invalid
		}
	}
	return p, nil
}
