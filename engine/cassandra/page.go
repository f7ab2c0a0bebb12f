// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// A paging state is the payload followed by a seal: a truncated HMAC of the payload and of its
// purpose (the table, or a DESCRIBE). A restart does not change the seal.
const sealSize = 8

var errPagingState = wire.Errorf(wire.CodeProtocol, "Invalid value for the paging state")

func (e *Engine) seal(purpose, payload []byte) []byte {
	h := hmac.New(sha256.New, e.pageKey)
	h.Write(wire.AppendInt(nil, int32(len(purpose))))
	h.Write(purpose)
	h.Write(payload)
	return h.Sum(nil)[:sealSize]
}

// sealPage makes a paging state.
func (e *Engine) sealPage(purpose, payload []byte) []byte {
	return append(payload, e.seal(purpose, payload)...)
}

// openPage returns a paging state's payload.
func (e *Engine) openPage(purpose, state []byte) ([]byte, error) {
	if len(state) < sealSize {
		return nil, errPagingState
	}
	payload := state[:len(state)-sealSize]
	if !hmac.Equal(e.seal(purpose, payload), state[len(payload):]) {
		return nil, errPagingState
	}
	return payload, nil
}
