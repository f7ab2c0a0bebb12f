// SPDX-License-Identifier: Apache-2.0

package read

// MaxHeld is the largest number of bytes of fetched rows that the door holds for one page. The rows that
// the door has written do not count. The door plans a step for half of MaxHeld, and a request for an
// eighth. The rest is for rows that are larger than the rows before them.
const MaxHeld = 32 << 20
