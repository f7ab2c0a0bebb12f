// SPDX-License-Identifier: Apache-2.0

// Package rows reads the rows of a file with all cores at once: CSV, JSON Lines and Parquet; plain,
// gzip or zstd; from a file or standard input.
//
//	src, err := rows.Open("orders.csv.gz", rows.Options{})
//	scanned, err := src.Scan(ctx, rows.ScanOptions{Columns: []string{"code", "user"}},
//		func(worker int, b *rows.Batch) error {
//			for i := range b.N {
//				code, user := b.Columns[0].Bytes(i), b.Columns[1].Bytes(i)
//			}
//			return nil
//		})
//
// One goroutine at a time splits text into pieces at the ends of records. The goroutine that took a
// piece also parses it. A piece of Parquet is a row group. Decisions that depend on order, such as
// which bad row is one too many, follow the order of the data, whichever piece was parsed first.
//
// It promises:
//
//  1. Memory is bounded, whatever the file holds: a record has at most MaxRecord bytes. A row or
//     field costs no allocation.
//  2. An error names the file, the line if there is one, and the way out (Hint). No input makes
//     it panic.
//  3. A row that cannot be read is a BadRow. Reading continues with the next row, up to
//     ScanOptions.MaxBadRows. A row with too many or too few fields is bad.
//  4. Text is as in the file, UTF-8 without its byte order mark. A JSON number is its digits as
//     written; true and false stay as they are. Values of Parquet are in CQL's units.
//  5. Source.Describe says what was guessed about a file (separator, header).
//
// It is at the workbench's edge: it reads files. It imports cql/value, for the types of columns.
package rows
