// Package syntax is the CQL language as text: lexer, recursive-descent parser,
// abstract syntax tree and printer.
//
// It promises:
//
//  1. Parse accepts what Apache Cassandra 5.0's grammar (Cql.g) accepts for the
//     statements it models, and rejects what that grammar rejects; the error
//     has Cassandra's SyntaxException shape ("line 1:7 no viable alternative …").
//  2. Parse(Print(s)) equals s, up to positions.
//  3. Target finds the kind of a statement and the table it names without
//     building a tree: it is all that is read of a statement for an unsharded table.
//  4. No input makes it panic, recurse without bound, or use memory out of
//     proportion to its length.
//
// It does no I/O and knows no schema; it imports nothing of this module.
package syntax
