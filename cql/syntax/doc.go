// SPDX-License-Identifier: Apache-2.0

// Package syntax implements the text of CQL: lexer, recursive-descent parser, abstract syntax tree
// and printer.
//
// It promises:
//
//  1. For the statements that it models, Parse accepts and rejects what Apache Cassandra 5.0's
//     grammar (Cql.g) accepts and rejects. The error has the form of Cassandra's SyntaxException
//     ("line 1:7 no viable alternative …") and its position. testdata/corpus.txt holds a real
//     Cassandra's verdicts.
//  2. Parse(Print(s)) equals s.
//  3. Target finds the kind of a statement and the table that it names, without building a tree
//     and without allocating. For a statement on an unsharded table, nothing else is read. If Parse
//     accepts a statement, Target agrees with it.
//  4. No input makes it panic, recurse without bound, or use memory out of proportion to the
//     input's length.
//
// corpus_test.go (knownDifferences) lists the differences from Cassandra, each with its reason.
// Statements nest at most 400 deep.
//
// It does no I/O and knows no schema; it imports nothing of this module.
//
//	s, err := syntax.Parse("SELECT title FROM tracker.blogs WHERE publish_date = ?")
//	h := syntax.Target(text)          // h.Kind, h.Name
//	dst = syntax.Append(dst, s)       // s as CQL
package syntax
