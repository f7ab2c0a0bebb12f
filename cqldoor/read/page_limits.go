// SPDX-License-Identifier: Apache-2.0

package read

// MaxHeld is the largest number of bytes of fetched rows that the door holds for one page. The part of the
// page that the door has written does not count. A step plans with half of MaxHeld, and a request with an eighth.
// The rest is for rows that are larger than the rows before them.
const MaxHeld = 32 << 20
