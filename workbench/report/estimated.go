// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// within formats a figure, followed by its interval if the figure was estimated.
func within(value, low, high float64, text func(float64) string) string {
	if low == high || text(low) == text(high) {
		return text(value)
	}
	return fmt.Sprintf("%s (%s to %s)", text(value), text(low), text(high))
}

// figure formats a figure of a candidate with its interval. name is the figure's name in JSON.
func figure(c *advice.Candidate, name string, value float64, text func(float64) string) string {
	i := c.Intervals.Of(name, value)
	return within(value, i.Low, i.High, text)
}

// partitionsText formats the number of a candidate's partitions.
func partitionsText(c *advice.Candidate) string {
	return figure(c, "partitions", c.Partitions, countText)
}

// lostText formats the number of rows that a candidate loses: overwritten rows, and rows without a
// key; if it loses none of the data, those that it would lose at the stated rate.
func lostText(c *advice.Candidate) string {
	i, none := c.Intervals.Of("rows_lost", c.RowsLost), float64(c.RowsNull)
	if l := c.Loss; l != nil && c.RowsLost+none == 0 {
		return within(l.PerDay, l.Low, l.High, countText) + " a day"
	}
	return within(c.RowsLost+none, i.Low+none, i.High+none, countText)
}

// rowsOf formats the rows of a candidate's median partition, of its 99th percentile and of its
// largest partition.
func rowsOf(c *advice.Candidate) [3]string {
	return [3]string{figure(c, "rows_p50", c.RowsP50, countText), figure(c, "rows_p99", c.RowsP99, countText), figure(c, "rows_max", c.RowsMax, countText)}
}

// bytesOf formats the bytes of the same three partitions.
func bytesOf(c *advice.Candidate, text func(float64) string) [3]string {
	return [3]string{figure(c, "bytes_p50", c.BytesP50, text), figure(c, "bytes_p99", c.BytesP99, text), figure(c, "bytes_max", c.BytesMax, text)}
}

// distinctText formats the number of distinct values of a column.
func distinctText(c *advice.Column) string { return within(c.Distinct, c.Low, c.High, countText) }

// topShareText formats the share of the rows that has a column's most frequent value.
func topShareText(c *advice.Column) string { return within(c.TopShare, c.TopLow, c.TopHigh, share) }

// hotShareText formats the share of the rows that has a hot key.
func hotShareText(h *advice.HotKey) string { return within(h.Share, h.Low, h.High, share) }

// hottestText formats x, a rate or share of a candidate's hottest partition, with the interval of
// that partition's rate.
func hottestText(c *advice.Candidate, x float64, text func(float64) string) string {
	m := &c.Heat.Moment
	if m.Writes <= 0 {
		return text(x)
	}
	return within(x, x*m.Low/m.Writes, x*m.High/m.Writes, text)
}
