// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// A read of the newest rows of a partition asks the directory for the newest buckets. Mostly the directory gives
// the same answer as before. So the door reads the buckets of the last answer while it asks the directory again. If
// the new answer is the same, the door shows the rows. If not, the door reads the buckets of the new answer.
//
// The client's request has arrived before the door sends the two requests. So each of them sees all that was
// acknowledged before the client's request.

// bucketList is an answer of the directory. It is never changed.
type bucketList struct {
	partition string // see partitionName
	question
	buckets []int64
	stable  bool // the answer to the same question before was the same
}

// question is what a read asks the directory about a partition: see plan.Directory.
type question struct {
	from, to int64
	down     bool
	limit    int
}

// partitionName appends a name for a logical partition.
func partitionName(dst []byte, t *plan.Table, key [][]byte) []byte {
	id := t.PhysicalID()
	return plan.AppendKey(append(dst, id[:]...), key)
}

// guessing is a paced directory. It returns a guess as its first answer, if it has one.
type guessing struct {
	paced
	at    *place
	asked bool
	guess *bucketList  // the first answer, until the directory has confirmed it
	fresh chan freshly // the directory's first answer
	first *bucketList  // the first answer, if the guess was wrong
}

// freshly is the directory's answer, or its error.
type freshly struct {
	*bucketList
	err error
}

// errGuess means that the guess was wrong, and that the read must begin again.
var errGuess = errors.New("buckets: the directory lists other buckets than before")

// Buckets implements plan.Directory.
func (g *guessing) Buckets(t *plan.Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error) {
	q := question{from, to, down, limit}
	switch {
	case g.asked:
		return g.Directory.Buckets(t, key, from, to, down, limit)
	case g.first != nil && g.first.question == q:
		g.asked = true
		return g.first.buckets, nil
	}
	g.asked = true
	var scratch [128]byte
	last, name := g.at.list.Load(), partitionName(scratch[:0], t, key)
	if last != nil && (last.question != q || last.partition != string(name)) {
		last = nil
	}
	if last == nil || !last.stable {
		a := g.ask(t, key, q, last)
		if a.err != nil {
			return nil, a.err
		}
		return a.buckets, nil
	}
	g.guess, g.fresh = last, make(chan freshly, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				g.fresh <- freshly{err: fmt.Errorf("buckets: read the directory of buckets: %v", p)}
			}
		}()
		g.fresh <- g.ask(t, key, q, last)
	}()
	return last.buckets, nil
}

// ask asks the directory, and notes the answer for later reads. last is the previous answer, or nil.
func (g *guessing) ask(t *plan.Table, key [][]byte, q question, last *bucketList) freshly {
	buckets, err := g.Directory.Buckets(t, key, q.from, q.to, q.down, q.limit)
	if err != nil {
		return freshly{err: err}
	}
	same := last != nil && slices.Equal(buckets, last.buckets)
	if same && last.stable {
		return freshly{bucketList: last}
	}
	a := &bucketList{question: q, buckets: buckets, stable: same && len(buckets) > 0}
	a.partition = string(partitionName(nil, t, key))
	g.at.list.Store(a)
	return freshly{bucketList: a}
}

// confirm waits for the directory's answer if the first answer was a guess. If the guess was wrong, confirm returns
// errGuess. Then the caller reads again, with the buckets that the directory has listed.
func (g *guessing) confirm() error {
	if g == nil || g.guess == nil {
		return nil
	}
	a, guess := <-g.fresh, g.guess
	g.guess = nil
	if a.err != nil || slices.Equal(a.buckets, guess.buckets) {
		return a.err
	}
	g.first, g.asked = a.bucketList, false
	return errGuess
}
