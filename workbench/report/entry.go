// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"
)

// Entry writes a label and, beside it, a text wrapped at about eighty columns.
func Entry(out io.Writer, label, text string) {
	const indent, width = 15, 84
	fmt.Fprintf(out, "  %-*s", indent-2, label)
	column := indent
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > width:
			fmt.Fprintf(out, "\n%*s", indent, "")
			column = indent
		default:
			fmt.Fprint(out, " ")
			column++
		}
		fmt.Fprint(out, word)
		column += n
	}
	fmt.Fprintln(out)
}
