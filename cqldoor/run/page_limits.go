// SPDX-License-Identifier: Apache-2.0

package run

import "github.com/evenkeel/evenkeel/cql/wire"

// maxHeld is the largest number of bytes of fetched rows that the door holds for one page,
// besides the part of the page that is written. A step takes half of it and one request an
// eighth, so that a row may be larger than those before it.
const maxHeld = 32 << 20

// maxResult is the largest number of bytes of rows in a result. Drivers refuse a frame of more
// than 256 MiB.
const maxResult = 255 << 20

// errLong refuses a long result that cannot be read in pages, or is not.
var errLong = wire.Errorf(wire.CodeServer, "evenkeel: the result is longer than the 256 MiB that fit into one message; read it in pages, or less of it")
