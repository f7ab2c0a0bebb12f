package rows

import "context"

// ScanOptions says how to scan.
type ScanOptions struct {
	Workers    int      // goroutines; 0: as many as there are processors
	Columns    []string // which the caller needs, in this order; nil: all
	MaxBadRows int64    // rows to pass over before giving up

	// Progress, where not nil, is told now and then what has been read: bytes of the
	// file (see Source.Progress) and rows. Calls do not overlap.
	Progress func(bytes, rows int64)
}

// Scanned is what a scan went over.
type Scanned struct {
	Rows    int64 // good ones
	Bad     int64
	First   []BadRow // the first few bad ones, in the order of the data
	Partial bool     // the context ended it
}

// Columns are the columns known so far. JSON Lines may get more as they are read,
// behind these.
func (s *Source) Columns() []Column { return nil }

// Scan reads all rows, from the first one, and gives them to each in batches, from
// several goroutines at once: worker, below o.Workers, says which. It returns when
// the last call has. It can be called again: standard input is kept in a temporary
// file for that, where Options.Again was set.
//
// When ctx ends, what was read is what there is: Scanned.Partial, and no error. An
// error of each ends the scan.
func (s *Source) Scan(ctx context.Context, o ScanOptions, each func(worker int, b *Batch) error) (Scanned, error) {
	return Scanned{}, nil
}
