// SPDX-License-Identifier: Apache-2.0

package scatter

// tree is a tournament of the shards' runs (a tree of losers). next returns the known rows in
// order, and equal rows in the order of the shards, with one comparison for each level.
type tree[R any] struct {
	compare func(a, b *R) int
	runs    []run[R]
	losers  []int32 // loser of the match at each node; the overall winner at 0
}

// run holds the remaining rows of a shard.
type run[R any] struct {
	head *R // nil at the end
	rest []R
}

func (u *run[R]) advance() {
	if len(u.rest) == 0 {
		u.head = nil
		return
	}
	u.head, u.rest = &u.rest[0], u.rest[1:]
}

// tree returns a tree of the known rows after a key; nil: of all.
func (r *Reader[R]) tree(after *R) *tree[R] {
	t := &tree[R]{compare: r.o.Compare, runs: make([]run[R], 0, len(r.shards))}
	for i := range r.shards {
		rows := r.shards[i].rows
		if after != nil {
			rows = rows[r.upto(i, after):]
		}
		if len(rows) > 0 {
			t.runs = append(t.runs, run[R]{&rows[0], rows[1:]})
		}
	}
	n := len(t.runs)
	if n == 0 {
		return t
	}
	nodes := make([]int32, 3*n)
	winners := nodes[n:]
	t.losers = nodes[:n:n]
	for i := range n {
		winners[n+i] = int32(i)
	}
	for node := n - 1; node > 0; node-- {
		a, b := winners[2*node], winners[2*node+1]
		if t.less(b, a) {
			a, b = b, a
		}
		winners[node], t.losers[node] = a, b
	}
	t.losers[0] = winners[1]
	return t
}

// next returns the next row, or nil at the end. The row is a pointer into its run.
func (t *tree[R]) next() *R {
	if len(t.runs) == 0 {
		return nil
	}
	winner := t.losers[0]
	u := &t.runs[winner]
	row := u.head
	if row == nil {
		return nil
	}
	u.advance()
	for node := (int(winner) + len(t.runs)) / 2; node > 0; node /= 2 {
		if t.less(t.losers[node], winner) {
			t.losers[node], winner = winner, t.losers[node]
		}
	}
	t.losers[0] = winner
	return row
}

// less says whether run a's head comes before run b's. A run that has ended comes last.
func (t *tree[R]) less(a, b int32) bool {
	x, y := t.runs[a].head, t.runs[b].head
	if x == nil || y == nil {
		return y == nil && x != nil
	}
	c := t.compare(x, y)
	return c < 0 || c == 0 && a < b
}
