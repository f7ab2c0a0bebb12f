// SPDX-License-Identifier: Apache-2.0

// Package rows reads the rows of a file, all cores at once: CSV, JSON Lines and
// Parquet; plain, gzip or zstd; from a file or standard input.
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
// Text is parted into pieces at the ends of records, by one goroutine at a time, and
// each piece is read by the goroutine that took it; a piece of Parquet is a row
// group. What goes by in order, such as which bad row is the one too many, is decided
// in the order of the data, whichever piece was read first.
//
// It promises:
//
//  1. Memory is bounded, whatever the file holds: a record has at most MaxRecord
//     bytes. A row or field costs no allocation.
//  2. An error names the file, the line where there is one, and the way out
//     (Hint). No input makes it panic.
//  3. A row that cannot be read is a BadRow, and reading goes on with the one behind
//     it, up to ScanOptions.MaxBadRows. A row with a field too many or too few is bad.
//  4. Text is as it is in the file, UTF-8 without its byte order mark. A JSON number
//     is its digits as they are written, true and false are themselves. Values of
//     Parquet are in CQL's units.
//  5. What it has guessed of a file (separator, header), Source.Describe says.
//
// It is the workbench's rim: it reads files. It imports cql/value, for the types of
// columns.
package rows
