// SPDX-License-Identifier: Apache-2.0

// Package page is the workbench's web page: drop a file of rows in, say what is
// asked of them, get the profile, the verdict and the plots, and compare designs.
//
//	p := page.New(page.Options{Hint: hint})
//	fmt.Fprintf(os.Stderr, "http://%s/#token=%s\n", addr, p.Token())
//	mux.Handle("/", p)
//
// It promises:
//
//  1. What is dropped in stays in memory: no file is written, and it is forgotten
//     when the page is left, when it was not used for IdleLimit, and when others need
//     the room. One file has at most MaxUpload bytes, all of them MaxHeld.
//  2. It answers its own pages only. The Host must be an address, or localhost, which
//     no other site's name can be made to mean (DNS rebinding); an Origin must be the
//     page's own.
//  3. Live tables (cql://…, dynamodb://…) are read for those only who have the token.
//  4. The page loads nothing from elsewhere: a Content-Security-Policy holds the
//     browser to it. It works by keyboard alone.
//  5. Errors are those of `evenkeel advise`, with file, line and hint.
//
// It imports of the workbench advice, live, livedynamo, prices, profile, queries, report and
// rows, and cql/value and shard.
package page
