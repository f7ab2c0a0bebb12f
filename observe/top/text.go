// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Text formats the report for a reader. It shows at most the given number of tables and, if
// height is not 0, only so many that the text fits in height lines.
func (r *Report) Text(server string, tables, height int) string {
	var head, tail, b strings.Builder
	fmt.Fprintf(&head, "evenkeel top %s, the last %.1f s: cpu %.2f cores, memory %s (heap %s), %.0f goroutines\n\n",
		server, r.Seconds, r.CPU, size(r.ResidentBytes), size(r.HeapBytes), r.Goroutines)
	const columns = "%-36s %10s %9s %9s %9s %8s %9s\n"
	titles := func(first string) []any {
		return []any{first, "requests/s", "errors/s", "p50", "p99", "fan-out", "retries/s"}
	}
	line := func(b *strings.Builder, name string, r Rates) {
		fan := "-"
		if r.FanOut > 0 {
			fan = fmt.Sprintf("%.1f", r.FanOut)
		}
		fmt.Fprintf(b, columns, clip(name, 36), rate(r.Requests), rate(r.Errors), span(r.P50), span(r.P99), fan, rate(r.Retries))
	}
	fmt.Fprintf(&head, columns, titles("DOOR")...)
	for _, d := range r.Doors {
		name := fmt.Sprintf("%s (%.0f in flight", d.Name, d.InFlight)
		if d.Name == "cql" {
			name += fmt.Sprintf(", %.0f clients", d.Connections)
		}
		line(&head, name+")", d.Rates)
	}
	if r.Changing > 0 {
		fmt.Fprintf(&tail, "\n%.0f sharded tables are being created, dropped or resharded; one that stays so was left half-done\n", r.Changing)
	}
	if len(r.Changes) > 0 {
		fmt.Fprintf(&tail, "\n%-36s %10s %12s %12s %12s %9s\n", "CHANGE OF LAYOUT", "step", "rows", "moved", "verified", "moved/s")
		for _, c := range r.Changes[:min(len(r.Changes), 8)] {
			fmt.Fprintf(&tail, "%-36s %10s %12.0f %12.0f %12.0f %9s\n", clip(c.Table, 36), clip(c.Step, 10), c.Total, c.Moved, c.Verified, rate(c.PerSecond))
		}
	}
	if len(r.Errors) > 0 {
		tail.WriteString("\nERRORS\n")
		for _, e := range r.Errors[:min(len(r.Errors), 5)] {
			fmt.Fprintf(&tail, "%-36s %10s\n", clip(e.Door+" "+e.Code, 36), rate(e.PerSecond))
		}
	}
	if len(r.Throttled) > 0 {
		fmt.Fprintf(&tail, "\n%-36s %10s %12s   %s\n", "THROTTLED BY DYNAMODB", "times/s", "cause", "partition key")
		for _, t := range r.Throttled[:min(len(r.Throttled), 8)] {
			name, key := t.Table, t.Key
			if t.Index != "" {
				name += " index " + t.Index
			}
			if name == "" {
				name = "(none or several)"
			}
			if key == "" {
				key = "(all)"
			}
			fmt.Fprintf(&tail, "%-36s %10s %12s   %s\n", clip(name, 36), rate(t.PerSecond), t.Cause, clip(key, 30))
		}
	}
	if len(r.Hosts) > 0 {
		fmt.Fprintf(&tail, "\n%-36s %10s %12s %9s\n", "HOST", "state", "connections", "in flight")
		for _, h := range r.Hosts {
			state := "down"
			if h.Up {
				state = "up"
			}
			fmt.Fprintf(&tail, "%-36s %10s %12.0f %9.0f\n", clip(h.Address, 36), state, h.Connections, h.InFlight)
		}
	}
	if height > 0 {
		tables = min(tables, max(1, height-strings.Count(head.String(), "\n")-strings.Count(tail.String(), "\n")-3))
	}
	b.WriteString(head.String() + "\n")
	if len(r.Tables) == 0 {
		b.WriteString("no requests\n")
	} else {
		fmt.Fprintf(&b, columns, titles("TABLE")...)
	}
	for _, t := range r.Tables[:min(len(r.Tables), tables)] {
		name := t.Name
		if name == "" {
			name = "(none or several)"
		}
		line(&b, name, t.Rates)
	}
	if more := len(r.Tables) - tables; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String() + tail.String()
}

// clip shortens a name to n characters. It removes terminal control characters, because names
// come from clients.
func clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func rate(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// span formats a time in seconds, rounded to about three figures.
func span(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	d := time.Duration(seconds * 1e9)
	for unit := time.Duration(10); ; unit *= 10 {
		if d < 100*unit {
			return d.Round(unit / 10 * 1).String()
		}
	}
}

func size(bytes float64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", bytes/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.0f MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.0f KiB", bytes/(1<<10))
}
