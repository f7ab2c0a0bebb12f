// SPDX-License-Identifier: Apache-2.0

// Package syntax is the CQL language as text: lexer, recursive-descent parser,
// abstract syntax tree and printer.
//
// It promises:
//
//  1. Parse accepts what Apache Cassandra 5.0's grammar (Cql.g) accepts for the
//     statements it models, and rejects what that grammar rejects; the error
//     has Cassandra's SyntaxException shape ("line 1:7 no viable alternative …")
//     and its position. testdata/corpus.txt holds a real Cassandra's verdicts.
//  2. Parse(Print(s)) equals s.
//  3. Target finds the kind of a statement and the table it names without
//     building a tree or allocating: it is all that is read of a statement for
//     an unsharded table. It never disagrees with Parse on what Parse accepts.
//  4. No input makes it panic, recurse without bound, or use memory out of
//     proportion to its length.
//
// What it does otherwise than Cassandra, each with its reason, is listed in
// corpus_test.go (knownDifferences). Statements nest at most 400 deep.
//
// It does no I/O and knows no schema; it imports nothing of this module.
//
//	s, err := syntax.Parse("SELECT title FROM tracker.blogs WHERE publish_date = ?")
//	h := syntax.Target(text)          // h.Kind, h.Name
//	dst = syntax.Append(dst, s)       // s as CQL
package syntax
