// SPDX-License-Identifier: Apache-2.0

package wire

// Version is a native protocol version: 4 or 5.
type Version uint8

const (
	V4 Version = 4
	V5 Version = 5
)

// Op is an opcode.
type Op uint8

const (
	OpError         Op = 0x00
	OpStartup       Op = 0x01
	OpReady         Op = 0x02
	OpAuthenticate  Op = 0x03
	OpOptions       Op = 0x05
	OpSupported     Op = 0x06
	OpQuery         Op = 0x07
	OpResult        Op = 0x08
	OpPrepare       Op = 0x09
	OpExecute       Op = 0x0A
	OpRegister      Op = 0x0B
	OpEvent         Op = 0x0C
	OpBatch         Op = 0x0D
	OpAuthChallenge Op = 0x0E
	OpAuthResponse  Op = 0x0F
	OpAuthSuccess   Op = 0x10
)

// Flags are a frame header's flags.
type Flags uint8

const (
	FlagCompressed    Flags = 0x01
	FlagTracing       Flags = 0x02
	FlagCustomPayload Flags = 0x04
	FlagWarning       Flags = 0x08
	FlagBeta          Flags = 0x10
)

// Message is a request or a response without its stream id. A store takes requests and returns
// responses. Body is uncompressed and includes the parts that the flags announce (tracing id,
// warnings, custom payload). Functions that pass a Message say who owns Body.
type Message struct {
	Op    Op
	Flags Flags
	Body  []byte

	// Arrival is set in responses only. Responses that the store had read at the same time share
	// it. It is nil if the store does not report this.
	Arrival *Arrival
}

// Arrival is shared by the responses that a store had read before it handed out the first of them.
// A fact that was checked after one of them had arrived is true for all of them. Only one goroutine
// uses an Arrival.
type Arrival struct {
	Checked any // the one who has made the check; nil: nobody yet
}
