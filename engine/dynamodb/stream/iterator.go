// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// sequenceBase makes numbers at least as long as AWS's sequence numbers.
const sequenceBase = "1"

// sequence returns a number in the form of the API: 21 digits, so that the texts sort as the
// numbers do.
func sequence(number uint64) string { return fmt.Sprintf("%s%020d", sequenceBase, number) }

func parseSequence(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, sequenceBase)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// iteratorLife is the time for which an iterator can be used, as in AWS.
const iteratorLife = 15 * time.Minute

// position is the content of a shard iterator. Its text is the stream's ARN and a version, then in
// base64 the first number of the shard, the number to read from, the time of its creation in
// milliseconds, each [8], and a CRC-32 of all that.
type position struct {
	arn         string
	first, from uint64
	made        time.Time
}

const iteratorVersion = "|1|"

func (p *position) String() string {
	b := binary.BigEndian.AppendUint64(nil, p.first)
	b = binary.BigEndian.AppendUint64(b, p.from)
	b = binary.BigEndian.AppendUint64(b, uint64(p.made.UnixMilli()))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(append([]byte(p.arn), b...)))
	return p.arn + iteratorVersion + base64.RawURLEncoding.EncodeToString(b)
}

func parseIterator(text string) (p position, err error) {
	arn, rest, ok := strings.Cut(text, iteratorVersion)
	b, bad := base64.RawURLEncoding.Strict().DecodeString(rest)
	if !ok || bad != nil || len(b) != 28 || crc32.ChecksumIEEE(append([]byte(arn), b[:24]...)) != binary.BigEndian.Uint32(b[24:]) {
		return p, exception.Invalid("Invalid ShardIterator")
	}
	p.arn, p.first, p.from = arn, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	p.made = time.UnixMilli(int64(binary.BigEndian.Uint64(b[16:])))
	return p, nil
}
