// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/evenkeel/evenkeel/workbench/advice"
)

// within prints a figure, and its interval where it was estimated.
func within(value, low, high float64, text func(float64) string) string {
	if low == high || text(low) == text(high) {
		return text(value)
	}
	return fmt.Sprintf("%s (%s to %s)", text(value), text(low), text(high))
}

// figure is one of a candidate's, by its name in JSON.
func figure(c *advice.Candidate, name string, value float64, text func(float64) string) string {
	i := c.Intervals.Of(name, value)
	return within(value, i.Low, i.High, text)
}

// partitionsText, lostText and the like are a candidate's figures.
func partitionsText(c *advice.Candidate) string {
	return figure(c, "partitions", c.Partitions, countText)
}

func lostText(c *advice.Candidate) string {
	i, none := c.Intervals.Of("rows_lost", c.RowsLost), float64(c.RowsNull)
	return within(c.RowsLost+none, i.Low+none, i.High+none, countText)
}

func rowsOf(c *advice.Candidate) [3]string {
	return [3]string{figure(c, "rows_p50", c.RowsP50, countText), figure(c, "rows_p99", c.RowsP99, countText), figure(c, "rows_max", c.RowsMax, countText)}
}

func bytesOf(c *advice.Candidate, text func(float64) string) [3]string {
	return [3]string{figure(c, "bytes_p50", c.BytesP50, text), figure(c, "bytes_p99", c.BytesP99, text), figure(c, "bytes_max", c.BytesMax, text)}
}

func distinctText(c *advice.Column) string { return within(c.Distinct, c.Low, c.High, countText) }

func topShareText(c *advice.Column) string { return within(c.TopShare, c.TopLow, c.TopHigh, share) }

func hotShareText(h *advice.HotKey) string { return within(h.Share, h.Low, h.High, share) }

// hottestText is what the hottest partition of a candidate gets, x in the best estimate.
func hottestText(c *advice.Candidate, x float64, text func(float64) string) string {
	m := &c.Heat.Moment
	if m.Writes <= 0 {
		return text(x)
	}
	return within(x, x*m.Low/m.Writes, x*m.High/m.Writes, text)
}
