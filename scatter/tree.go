package scatter

// tree is a tournament over the shards' runs: next gives known rows in order,
// equal ones in the order of the shards.
type tree[R any] struct {
	compare func(a, b *R) int
	runs    [][]R // what is left of each
	heap    []int // indexes of runs that are not empty, least head first
	source  int   // the run that the last row came from
}

// tree is one over the known rows after a key; nil: over all.
func (r *Reader[R]) tree(after *R) *tree[R] {
	t := &tree[R]{compare: r.o.Compare, runs: make([][]R, len(r.shards)), heap: make([]int, 0, len(r.shards))}
	for i := range r.shards {
		rows := r.shards[i].rows
		if after != nil {
			rows = rows[r.upto(i, after):]
		}
		if len(rows) > 0 {
			t.runs[i] = rows
			t.heap = append(t.heap, i)
		}
	}
	for i := len(t.heap)/2 - 1; i >= 0; i-- {
		t.down(i)
	}
	return t
}

// next is the next row, nil when there is none. It points into its run.
func (t *tree[R]) next() *R {
	if len(t.heap) == 0 {
		return nil
	}
	i := t.heap[0]
	t.source = i
	row := &t.runs[i][0]
	if t.runs[i] = t.runs[i][1:]; len(t.runs[i]) == 0 {
		last := len(t.heap) - 1
		t.heap[0] = t.heap[last]
		t.heap = t.heap[:last]
	}
	t.down(0)
	return row
}

func (t *tree[R]) less(a, b int) bool {
	c := t.compare(&t.runs[a][0], &t.runs[b][0])
	return c < 0 || c == 0 && a < b
}

func (t *tree[R]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if right := child + 1; right < len(t.heap) && t.less(t.heap[right], t.heap[child]) {
			child = right
		}
		if !t.less(t.heap[child], t.heap[i]) {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}
