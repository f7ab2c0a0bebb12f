// SPDX-License-Identifier: Apache-2.0

package timeid

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Layout says how Snowflake numbers hold their time: the bits above Shift count steps of Step ms
// since Epoch.
type Layout struct {
	Shift uint
	Step  int64
	Epoch int64 // in ms since 1970
	// Sure says that the data tell the epoch: another column has the times. Else Epoch is the
	// well-known one that fits, and periods have their right length but perhaps not their right date.
	Sure bool
}

// Time returns the time of a number in ms since 1970.
func (l Layout) Time(n int64) int64 { return n>>l.Shift*l.Step + l.Epoch }

// Where says which part of a number holds the time.
func (l Layout) Where() string {
	step := "milliseconds"
	switch l.Step {
	case 10:
		step = "hundredths of a second"
	case 1000:
		step = "seconds"
	}
	text := fmt.Sprintf("the number shifted right by %d bits counts the %s since %s", l.Shift, step, time.UnixMilli(l.Epoch).UTC().Format("2006-01-02T15:04:05.999Z"))
	if !l.Sure {
		text += ", if its epoch is one of the well-known ones"
	}
	return text
}

// Least is the least number that can be a Snowflake id.
const Least = 1 << 48

// Numbers counts what tells Snowflake numbers from others. The zero value is ready.
type Numbers struct {
	N        int64
	Min, Max int64
	human    int64       // numbers that begin with a date, yyyymmdd, or end in zeros: people or money made them
	machine  [1024]int64 // numbers by their bits 12 to 21, in which most layouts have the machine
	moments  [16]uint64  // a set of hashes of the bits above, which then count the time
}

// Add takes a number of at least Least.
func (x *Numbers) Add(n int64) {
	if x.N == 0 {
		x.Min, x.Max = n, n
	}
	x.N++
	x.Min, x.Max = min(x.Min, n), max(x.Max, n)
	x.machine[n>>12&1023]++
	h := uint64(n>>22) * 0x9e3779b97f4a7c15 >> 54
	x.moments[h>>6] |= 1 << (h & 63)
	if n%1000 == 0 || beginsWithDate(n) {
		x.human++
	}
}

// Merge adds what another one counted.
func (x *Numbers) Merge(o *Numbers) {
	if o.N == 0 {
		return
	}
	if x.N == 0 {
		x.Min, x.Max = o.Min, o.Max
	}
	x.N += o.N
	x.human += o.human
	x.Min, x.Max = min(x.Min, o.Min), max(x.Max, o.Max)
	for i, k := range o.machine {
		x.machine[i] += k
	}
	for i, set := range o.moments {
		x.moments[i] |= set
	}
}

func beginsWithDate(n int64) bool {
	for n >= 100_000_000 {
		n /= 10
	}
	month, day := n/100%100, n%100
	return n >= 1990_00_00 && n < 2050_00_00 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// shortest is the least time, in ms, from which a layout can be told.
const shortest = 5000

// Span is the time that a column covers, in ms since 1970.
type Span struct{ First, Last int64 }

// These are what layouts in use have.
var (
	steps = []int64{1, 10, 1000}
	// epochs are those of 41 bits of ms above 22 bits: 1970, and the two best-known others.
	epochs = []int64{0, 1_420_070_400_000, 1_288_834_974_657}
)

// Layout returns the layout of the numbers. ok is false if they are no Snowflake numbers. spans are
// the times of the other columns. If the numbers grow with one of these as with 2^Shift for each
// step, that column tells their layout. Else the numbers must look as Snowflake numbers of the usual
// layout do.
func (x *Numbers) Layout(spans []Span) (l Layout, ok bool) {
	if x.N < 2 || x.Max == x.Min {
		return Layout{}, false
	}
	for _, s := range spans {
		if l, ok = x.along(s); ok {
			return l, true
		}
	}
	if !x.usual() {
		return Layout{}, false
	}
	for _, epoch := range epochs {
		l = Layout{Shift: 22, Step: 1, Epoch: epoch}
		if l.Time(x.Min) >= max(from, epoch) && l.Time(x.Max) < to && (epoch > 0 || x.Min > 1<<61) {
			return l, true
		}
	}
	return Layout{}, false
}

// along returns the layout by which the numbers grow with a column of time.
func (x *Numbers) along(s Span) (Layout, bool) {
	if s.Last-s.First < shortest {
		return Layout{}, false // too short a time to tell
	}
	for _, step := range steps {
		perStep := float64(x.Max-x.Min) / float64(s.Last-s.First) * float64(step)
		shift := math.Round(math.Log2(perStep))
		if shift < 8 || shift > 40 || math.Abs(perStep/math.Exp2(shift)-1) > 0.01 {
			continue
		}
		l := Layout{Shift: uint(shift), Step: step, Sure: true}
		epoch := s.First - l.Time(x.Min)
		if epoch < -86_400_000 || epoch > s.First-86_400_000 {
			continue // no epoch is before 1970, nor in the time of the data
		}
		l.Epoch = near(epoch)
		return l, true
	}
	return Layout{}, false
}

// near returns the epoch that people have chosen if the data's first time is a little off it: a
// well-known one, or the beginning of a day.
func near(epoch int64) int64 {
	const day = 86_400_000
	for _, known := range append([]int64{1_314_220_021_721}, epochs...) {
		if d := epoch - known; d > -10_000 && d < 10_000 {
			return known
		}
	}
	if whole := (epoch + day/2) / day * day; epoch-whole > -10_000 && epoch-whole < 10_000 {
		return whole
	}
	return epoch
}

// usual reports whether the numbers look like 41 bits of time, ten bits of a machine and twelve of a
// sequence. There are few machines, while numbers of another kind have all values in these bits.
func (x *Numbers) usual() bool {
	const years = 20 * 365 * 86_400_000
	if x.N < 200 || x.human > x.N/2 || (x.Max-x.Min)>>22 < shortest || (x.Max-x.Min)>>22 > years {
		return false
	}
	moments := 0
	for _, set := range x.moments {
		moments += bits.OnesCount64(set)
	}
	if moments < 100 {
		return false
	}
	used := 0
	for _, k := range x.machine {
		if k > 0 {
			used++
		}
	}
	return used <= 64 && float64(used) < 0.25*float64(x.N)
}
