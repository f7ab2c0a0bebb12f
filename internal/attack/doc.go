// SPDX-License-Identifier: Apache-2.0

// Command attack attacks an evenkeel that runs in its own process, over the wire, with random
// inputs from generators that know nothing of its code:
//
//	go run ./internal/attack -evenkeel bin/evenkeel -for 5m [CLASS…]
//
// The classes are in main.go, each in a file of its name. The command prints a fault with the input
// that caused it, and then exits with code 1. The random source comes from -seed, which it prints;
// concurrent clients act in another order each time.
//
// If EVENKEEL_TEST_CASSANDRA names a Cassandra (see with-cassandra), the classes to which that
// matters also attack a door in front of it, or use it as the judge. Nothing is compared with
// absolute times: a second server that nobody attacks shows how long operations take on the machine.
package main
