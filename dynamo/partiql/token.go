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

// A NextToken is a version, the beginning of the statement's digest, the number of
// a read (uvarint), the key that it goes on after as DynamoDB JSON, empty for its
// beginning, and the beginning of the digest of all that; in base64. Who forges one
// reads what the statement reads anyway.
const (
	tokenVersion = 1
	digestLen    = 8
)

// Position is how far a SELECT has been answered.
type Position struct {
	Read  int            // the reads before it are done
	After attribute.Item // nil: from the read's beginning
}

// digest is of what a token is good for.
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

// ParseToken returns the position that a request's token has, the beginning where
// there is none.
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
