// SPDX-License-Identifier: Apache-2.0

package syntax

// maxDepth is how deep terms, types and relations may nest.
const maxDepth = 400

// A cursor moves over the tokens of one text.
//
// Errors are sticky. The first error moves the cursor to the end of the text, so that every further
// step fails without effect and rules need no check after each call. The cursor records its
// lookahead (far). The reference parser reads its tokens lazily, so a lexical error counts only
// after it has been read.
type cursor struct {
	text  string
	toks  []token
	pos   int
	far   int // the furthest token that was looked at
	binds int
	depth int

	failed  bool
	failure failure
	soft    *SyntaxError // an error found by an action of a rule; the parse continued
}

// failure is a recognition error without its text yet.
type failure struct {
	bad, at, far int
	expecting    string       // "" if no alternative was viable
	err          *SyntaxError // set for failures that already have a text
}

// result returns the error that the reference parser would have found first.
func (p *cursor) result(lexErr *lexError) error {
	switch {
	case p.failed && p.failure.err != nil && p.failure.err.Invalid:
		return p.failure.err
	case lexErr != nil && (!p.failed || p.failure.far == len(p.toks)-1) && p.soft == nil:
		return lexErr.syntaxError(p.text)
	case p.soft != nil:
		return p.soft
	case !p.failed:
		return nil
	case p.failure.err != nil:
		return p.failure.err
	}
	f := p.failure
	return recognitionError(p.text, p.toks, f.bad, f.at, f.far, f.expecting)
}

// kind returns the kind of the current token.
func (p *cursor) kind() kind { return p.toks[p.pos].kind }

// ahead returns the kind of the n-th token after the current one.
func (p *cursor) ahead(n int) kind {
	i := min(p.pos+n, len(p.toks)-1)
	if !p.failed && i > p.far {
		p.far = i
	}
	return p.toks[i].kind
}

func (p *cursor) advance() token {
	t := p.toks[p.pos]
	if p.pos < len(p.toks)-1 {
		p.pos++
		if !p.failed && p.pos > p.far {
			p.far = p.pos
		}
	}
	return t
}

// skip advances over n tokens that the caller has already looked at.
func (p *cursor) skip(n int) {
	for range n {
		p.advance()
	}
}

func (p *cursor) accept(k kind) bool {
	if p.toks[p.pos].kind != k || p.failed {
		return false
	}
	p.advance()
	return true
}

func (p *cursor) expect(k kind) token {
	if t := p.toks[p.pos]; t.kind == k && !p.failed {
		p.advance()
		return t
	}
	p.fail(failure{bad: p.pos, at: p.pos, expecting: kindNames[k]})
	return token{}
}

// expectAll expects each of the kinds in turn.
func (p *cursor) expectAll(ks ...kind) {
	for _, k := range ks {
		p.expect(k)
	}
}

func (p *cursor) fail(f failure) {
	if p.failed {
		return
	}
	p.failed = true
	f.far = max(p.far, f.bad)
	p.failure = f
	p.pos = len(p.toks) - 1
}

// noViable fails at the n-th token after the current one. The decision for an alternative began at
// the current token, and no alternative has that token there.
func (p *cursor) noViable(n int) {
	p.fail(failure{bad: min(p.pos+n, len(p.toks)-1), at: p.pos})
}

// wrong records an error that an action of the reference grammar finds. Parsing continues.
func (p *cursor) wrong(message string) {
	if p.soft == nil && !p.failed {
		p.soft = &SyntaxError{Column: -1, Message: message}
	}
}

// invalid ends the parse with an error that Cassandra reports as an invalid request.
func (p *cursor) invalid(message string) {
	p.fail(failure{err: &SyntaxError{Column: -1, Message: message, Invalid: true}})
}

// enter guards a recursion. If it returns true, the caller must call leave.
func (p *cursor) enter() bool {
	if p.depth >= maxDepth {
		line, col := lineCol(p.text, int(p.toks[p.pos].pos))
		e := &SyntaxError{Line: line, Column: col}
		e.Message = positioned(line, col, "the statement nests too deep")
		p.fail(failure{err: e})
		return false
	}
	p.depth++
	return true
}

func (p *cursor) leave() { p.depth-- }

// mark is a state of the cursor. mark and reset let a rule try an alternative and undo it.
type mark struct {
	pos, binds, depth int
	soft              *SyntaxError
}

func (p *cursor) mark() mark { return mark{p.pos, p.binds, p.depth, p.soft} }

func (p *cursor) reset(m mark) {
	p.pos, p.binds, p.depth, p.soft = m.pos, m.binds, m.depth, m.soft
	p.failed = false
}

// canReset reports whether a failed alternative may be undone. It may not if a limit was reached.
func (p *cursor) canReset() bool { return p.failed && p.failure.err == nil }

func (p *cursor) textOf(t token) string { return p.text[t.pos:t.end] }
