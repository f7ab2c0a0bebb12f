// Package rows reads the rows of a file, one by one: CSV with a header, or JSON
// Lines; plain, gzip or zstd; from a file or standard input.
//
//	src, err := rows.Open("orders.csv.gz", rows.Options{})
//	err = src.Select([]string{"code", "user"})
//	for {
//		values, err := src.Next() // io.EOF at the end, *BadRow for one to pass over
//	}
//
// It promises:
//
//  1. Memory is bounded, whatever the file holds: a record has at most MaxRecord
//     bytes.
//  2. An error names the file, the line where there is one, and the way out
//     (Hint). No input makes it panic.
//  3. A row that cannot be read is a *BadRow, after which Next goes on with the one
//     behind it. Nothing is guessed: a row with a field too many or too few is bad.
//  4. Text is as it is in the file, UTF-8 without its byte order mark. A JSON number
//     is its digits as they are written, true and false are themselves; null,
//     objects and arrays are no values.
//
// It is the workbench's rim: it reads files. It imports cql/value, for the types of columns.
package rows
