// SPDX-License-Identifier: Apache-2.0

// Command invoices prints 20,000 invoice transactions as CSV: InvoiceNumber,
// ClientTransactionid, trans_country, amount, currency. Most are from the USA. The
// output is always the same.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
)

const (
	transactions = 20_000
	invoices     = 400
)

var elsewhere = strings.Fields("CAN:CAD MEX:MXN GBR:GBP DEU:EUR IND:INR JPN:JPY BRA:BRL AUS:AUD")

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "invoices:", err)
		os.Exit(1)
	}
}

func write(out io.Writer) error {
	rnd := rand.New(rand.NewPCG(12, 1212))
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "InvoiceNumber,ClientTransactionid,trans_country,amount,currency")
	for i := range transactions {
		country, currency := "USA", "USD"
		if rnd.IntN(5) == 0 {
			country, currency, _ = strings.Cut(elsewhere[rnd.IntN(len(elsewhere))], ":")
		}
		fmt.Fprintf(w, "%d,Client%d-trans%d,%s,%d,%s\n", 121212+i%invoices, 1+rnd.IntN(20), i, country, 100+rnd.IntN(100_000), currency)
	}
	return w.Flush()
}
