// SPDX-License-Identifier: Apache-2.0

package wire

import "fmt"

// Consistency is a consistency level.
type Consistency uint16

const (
	Any         Consistency = 0x0000
	One         Consistency = 0x0001
	Two         Consistency = 0x0002
	Three       Consistency = 0x0003
	Quorum      Consistency = 0x0004
	All         Consistency = 0x0005
	LocalQuorum Consistency = 0x0006
	EachQuorum  Consistency = 0x0007
	Serial      Consistency = 0x0008
	LocalSerial Consistency = 0x0009
	LocalOne    Consistency = 0x000A
	NodeLocal   Consistency = 0x000B // Cassandra 4.1 and later; not in the specification
)

var consistencyNames = [...]string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM",
	"SERIAL", "LOCAL_SERIAL", "LOCAL_ONE", "NODE_LOCAL",
}

// Known reports whether c is a consistency level.
func (c Consistency) Known() bool { return int(c) < len(consistencyNames) }

// IsSerial reports whether c is SERIAL or LOCAL_SERIAL.
func (c Consistency) IsSerial() bool { return c == Serial || c == LocalSerial }

func (c Consistency) String() string {
	if c.Known() {
		return consistencyNames[c]
	}
	return fmt.Sprintf("consistency 0x%04X", uint16(c))
}
