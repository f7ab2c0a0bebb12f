package run

import (
	"context"
	"sync"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// physical is what the backend calls a physical statement.
type physical struct {
	mu         sync.Mutex
	id         []byte
	metadataID []byte
}

// ids returns the backend's ids of the statement, "" while it is not prepared.
func (p *physical) ids() (id, metadataID []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id, p.metadataID
}

func (p *physical) forget(id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if string(p.id) == string(id) {
		p.id = nil
	}
}

// prepare returns the ids, preparing the text on the link where it is not yet.
func (p *physical) prepare(ctx context.Context, l store.Link, v wire.Version, text string) (id, metadataID []byte, err error) {
	if id, metadataID = p.ids(); id != nil {
		return id, metadataID, nil
	}
	body, err := call(ctx, l, v, wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, v, &wire.Prepare{Text: []byte(text)})})
	if err != nil {
		return nil, nil, err
	}
	answer, err := wire.ParsePrepared(v, body)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.metadataID = answer.ID, answer.MetadataID
	return p.id, p.metadataID, nil
}

// call sends a request and waits for its response: the body of a RESULT without
// its prefix, which is the caller's, or the error.
func call(ctx context.Context, l store.Link, v wire.Version, req wire.Message) ([]byte, error) {
	type answer struct {
		body []byte
		err  error
	}
	done := make(chan answer, 1)
	l.Send(req, func(resp wire.Message) {
		body, err := result(v, resp)
		done <- answer{append([]byte(nil), body...), err}
	})
	select {
	case a := <-done:
		return a.body, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// result is the body of a response without its prefix, or its error.
func result(v wire.Version, resp wire.Message) ([]byte, error) {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(v, body)
		if err != nil {
			return nil, err
		}
		e.ID = append([]byte(nil), e.ID...)
		return nil, e
	}
	return body, nil
}

// registry holds what is prepared: the clients' statements by their ids, the
// physical ones by their texts. Both are bounded; the least lately used go first.
type registry struct {
	statements *lru[[16]byte, *statement]
	texts      *lru[string, *physical]
}

const registrySize = 10_000

func newRegistry() *registry {
	return &registry{newLRU[[16]byte, *statement](registrySize), newLRU[string, *physical](registrySize)}
}

// physical is the entry of a physical statement.
func (r *registry) physical(text string) *physical {
	return r.texts.getOr(text, func() *physical { return &physical{} })
}
