// SPDX-License-Identifier: Apache-2.0

// Package page is the workbench's web page: the user uploads a file of rows, enters the queries,
// gets the profile, the verdict and the plots, and compares designs.
//
//	p := page.New(page.Options{Hint: hint})
//	fmt.Fprintf(os.Stderr, "http://%s/#token=%s\n", addr, p.Token())
//	mux.Handle("/", p)
//
// It promises:
//
//  1. Uploaded data stay in memory: no file is written. The package forgets them when the user
//     leaves the page, when they were not used for IdleLimit, and when other data need the memory.
//     One file has at most MaxUpload bytes, all files together MaxHeld.
//  2. It answers only its own pages. The Host must be an address, or localhost, to which no
//     other site's name can be changed (DNS rebinding). An Origin must be the page's own.
//  3. Only users who have the token can read live tables (cql://…, dynamodb://…).
//  4. The page loads nothing from other hosts: a Content-Security-Policy makes the browser
//     enforce this. It works by keyboard alone.
//  5. Errors are those of `evenkeel advise`, with file, line and hint.
//
// It imports of the workbench advice, live, livedynamo, prices, profile, queries, report and
// rows, and cql/value and shard.
package page
