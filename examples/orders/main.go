// SPDX-License-Identifier: Apache-2.0

// Command orders prints the data of a published experiment on key distribution as
// CSV: code, user, uuid; 5,610 orders. With -emails it prints its 4,603 e-mail
// addresses; with -lazy those that the experiment's own program made, 186 distinct
// ones. The output is the same for the same -seed.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/evenkeel/evenkeel/workbench/orders"
)

func main() {
	emails := flag.Bool("emails", false, "print e-mail addresses")
	lazy := flag.Bool("lazy", false, "print the addresses of the experiment's own program")
	seed := flag.Uint64("seed", 1, "of UUIDs and addresses")
	flag.Parse()
	if err := write(os.Stdout, *seed, *emails, *lazy); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func write(out io.Writer, seed uint64, emails, lazy bool) error {
	w := bufio.NewWriter(out)
	switch {
	case emails || lazy:
		fmt.Fprintln(w, "email")
		addresses := orders.Emails(seed)
		if lazy {
			addresses = orders.LazyEmails(seed)
		}
		for e := range addresses {
			fmt.Fprintf(w, "%q\n", e)
		}
	default:
		fmt.Fprintln(w, "code,user,uuid")
		for o := range orders.Orders(seed) {
			fmt.Fprintf(w, "%d,%d,%s\n", o.Code, o.User, o.UUID)
		}
	}
	return w.Flush()
}
