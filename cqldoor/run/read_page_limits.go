// SPDX-License-Identifier: Apache-2.0

package run

import "github.com/evenkeel/evenkeel/cql/wire"

// maxHeld is the largest number of bytes of fetched rows that the door holds for one page. The part of the
// page that the door has written does not count. A step plans with half of maxHeld, and a request with an eighth.
// The rest is for rows that are larger than the rows before them.
const maxHeld = 32 << 20

// maxResult is the largest number of bytes of rows in a result. Drivers refuse a frame of more
// than 256 MiB.
const maxResult = 255 << 20

// errLong refuses a result that is too long for one message.
var errLong = wire.Errorf(wire.CodeServer, "evenkeel: the result is longer than the 256 MiB that fit into one message; read it in pages, or less of it")
