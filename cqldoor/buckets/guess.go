// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// A read of the newest rows of a partition asks the directory for the newest buckets. Mostly the directory gives
// the same answer as before. So the door reads the buckets of the last answer while it asks the directory again. If
// the new answer is the same, the door sends the rows to the client. If not, it reads the buckets of the new answer.
//
// The door sends both requests after the client's request has arrived. So each of them sees everything that was
// acknowledged before the client's request.

// BucketList is an answer of the directory. It is immutable.
type BucketList struct {
	partition string // see partitionName
	Question
	Buckets []int64
	Stable  bool // the directory has given this answer twice in succession, and it is not empty
}

// Question holds the arguments with which a read asks the directory about a partition: see plan.Directory.
type Question struct {
	from, to int64
	Down     bool
	Limit    int
}

// partitionName appends a name for a logical partition.
func partitionName(dst []byte, t *plan.Table, key [][]byte) []byte {
	id := t.PhysicalID()
	return plan.AppendKey(append(dst, id[:]...), key)
}

// Guessing is a paced directory. Its first answer is a guess, if the place has a stable answer to the question.
type Guessing struct {
	Paced
	At    *Place
	asked bool         // the first question was answered
	guess *BucketList  // the guess, until Confirm has compared it with the directory's answer
	fresh chan freshly // the directory's answer to the first question
	first *BucketList  // the directory's answer to the first question, if the guess was wrong
}

// freshly is the directory's answer, or its error.
type freshly struct {
	*BucketList
	err error
}

// ErrGuess means that the guess was wrong, and that the read must begin again.
var ErrGuess = errors.New("buckets: the directory lists other buckets than before")

// Buckets implements plan.Directory.
func (g *Guessing) Buckets(t *plan.Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error) {
	q := Question{from, to, down, limit}
	switch {
	case g.asked:
		return g.Directory.Buckets(t, key, from, to, down, limit)
	case g.first != nil && g.first.Question == q:
		g.asked = true
		return g.first.Buckets, nil
	}
	g.asked = true
	var scratch [128]byte
	last, name := g.At.List.Load(), partitionName(scratch[:0], t, key)
	if last != nil && (last.Question != q || last.partition != string(name)) {
		last = nil
	}
	if last == nil || !last.Stable {
		a := g.ask(t, key, q, last)
		if a.err != nil {
			return nil, a.err
		}
		return a.Buckets, nil
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
	return last.Buckets, nil
}

// ask asks the directory, and notes the answer for later reads. last is the previous answer to the same question,
// or nil.
func (g *Guessing) ask(t *plan.Table, key [][]byte, q Question, last *BucketList) freshly {
	buckets, err := g.Directory.Buckets(t, key, q.from, q.to, q.Down, q.Limit)
	if err != nil {
		return freshly{err: err}
	}
	same := last != nil && slices.Equal(buckets, last.Buckets)
	if same && last.Stable {
		return freshly{BucketList: last}
	}
	a := &BucketList{Question: q, Buckets: buckets, Stable: same && len(buckets) > 0}
	a.partition = string(partitionName(nil, t, key))
	g.At.List.Store(a)
	return freshly{BucketList: a}
}

// Confirm waits for the directory's answer if the first answer was a guess. If the guess was wrong, Confirm returns
// ErrGuess. Then the caller reads again, with the buckets that the directory has listed. Confirm also returns the
// error of the directory.
func (g *Guessing) Confirm() error {
	if g == nil || g.guess == nil {
		return nil
	}
	a, guess := <-g.fresh, g.guess
	g.guess = nil
	if a.err != nil || slices.Equal(a.Buckets, guess.Buckets) {
		return a.err
	}
	g.first, g.asked = a.BucketList, false
	return ErrGuess
}
