// SPDX-License-Identifier: Apache-2.0

// Command logs prints the log lines of a day of twelve servers as CSV: log_hour,
// log_level, message, server. One server logs far more than the others. The output
// is always the same.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

const lines = 20_000

var (
	start    = time.Date(2022, 8, 11, 0, 0, 0, 0, time.UTC)
	levels   = strings.Fields("INFO INFO INFO INFO INFO INFO INFO WARN WARN ERROR")
	messages = strings.Split("connection accepted|connection closed|request served|cache miss|slow query|disk nearly full|retrying|timed out", "|")
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "logs:", err)
		os.Exit(1)
	}
}

func write(out io.Writer) error {
	rnd := rand.New(rand.NewPCG(2022, 811))
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "log_hour,log_level,message,server")
	for i := range lines {
		server := 1
		if rnd.IntN(2) == 0 { // the other half of the lines
			server = 2 + rnd.IntN(11)
		}
		hour := start.Add(time.Duration(i*24/lines) * time.Hour)
		fmt.Fprintf(w, "%s,%s,%s,server-%02d\n", hour.Format(time.RFC3339), levels[rnd.IntN(len(levels))], messages[rnd.IntN(len(messages))], server)
	}
	return w.Flush()
}
