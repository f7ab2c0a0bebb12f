// SPDX-License-Identifier: Apache-2.0

// Command attack attacks an evenkeel that runs as a process of its own, over the
// wire, with inputs drawn at random by generators that know nothing of its code:
//
//	go run ./internal/attack -evenkeel bin/evenkeel -for 5m [CLASS…]
//
// The classes are in main.go, each in a file of its name. A fault is printed with
// what was sent, and the whole ends with exit code 1. Draws come from -seed, which is
// printed; what several clients do at once comes in another order each time.
//
// Where EVENKEEL_TEST_CASSANDRA names a Cassandra (see with-cassandra), the classes to
// which it matters attack a door in front of it too, or take it for the judge. Nothing
// is compared with absolute times: a second server that nobody attacks says how long
// things take on the machine.
package main
