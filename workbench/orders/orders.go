// SPDX-License-Identifier: Apache-2.0

// Package orders makes the data of a published experiment on key distribution: product codes 0 to
// 10. Code c is ordered 10 + 100c times, by the users 1 to 10 + 100c; there are 5,610 orders in
// all. In addition to what the experiment defines, each order has a random UUID. The package also
// makes the experiment's e-mail addresses.
//
// It promises:
//
//  1. The orders are the same whatever the seed is; UUIDs and addresses are the same for the
//     same seed.
//  2. UUIDs have 122 random bits. The local parts of Emails have ten random characters out of
//     62.
//
// It does no I/O and imports nothing of this module.
package orders

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// Order is one order.
type Order struct {
	Code, User int
	UUID       string // version 4
}

// Orders returns the experiment's orders, by code and user.
func Orders(seed uint64) iter.Seq[Order] {
	return func(yield func(Order) bool) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		for code := range 11 {
			for user := range 10 + 100*code {
				if !yield(Order{Code: code, User: user + 1, UUID: uuid(rnd)}) {
					return
				}
			}
		}
	}
}

// uuid draws a version 4 UUID.
func uuid(rnd *rand.Rand) string {
	hi, lo := rnd.Uint64()&^0xf000|0x4000, rnd.Uint64()>>2|1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}

// domains holds the experiment's domains, with the number of addresses of each.
var domains = []struct {
	name  string
	count int
}{{"gmail.com", 2201}, {"yahoo.com", 1201}, {"mymail.com", 1201}}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Emails returns 4,603 addresses with local parts of ten characters, as the experiment describes
// them.
func Emails(seed uint64) iter.Seq[string] {
	return emails(seed, func(rnd *rand.Rand) string {
		var local [10]byte
		for i := range local {
			local[i] = alphanumeric[rnd.IntN(len(alphanumeric))]
		}
		return string(local[:])
	})
}

// LazyEmails returns the addresses that the experiment's own program made. It printed an
// unevaluated stream in place of the local part. Only the first character of the stream shows, so
// that there are 62 local parts, and 186 addresses.
func LazyEmails(seed uint64) iter.Seq[string] {
	return emails(seed, func(rnd *rand.Rand) string {
		return fmt.Sprintf("Stream(%c, ?)", alphanumeric[rnd.IntN(len(alphanumeric))])
	})
}

func emails(seed uint64, local func(*rand.Rand) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for _, d := range domains {
			for range d.count {
				if !yield(local(rnd) + "@" + d.name) {
					return
				}
			}
		}
	}
}
