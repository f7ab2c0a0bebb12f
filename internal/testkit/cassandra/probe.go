// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// These are opcodes of native_protocol_v4.spec §2.4. The probe does not use package wire. Otherwise
// a fault in wire would look as if Cassandra had not started.
const (
	opStartup      = 0x01
	opReady        = 0x02
	opAuthenticate = 0x03
	opAuthResponse = 0x0F
	opAuthSuccess  = 0x10
)

// probe connects and, with auth, logs in as the superuser.
func probe(ctx context.Context, addr string, auth bool) error {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	r := bufio.NewReader(c)
	op, err := call(c, r, opStartup, []byte("\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0"))
	if err != nil {
		return err
	}
	switch {
	case !auth && op == opReady:
		return nil
	case auth && op == opAuthenticate:
		token := "\x00" + Username + "\x00" + Password
		body := binary.BigEndian.AppendUint32(nil, uint32(len(token)))
		if op, err = call(c, r, opAuthResponse, append(body, token...)); err != nil {
			return err
		}
		if op == opAuthSuccess {
			return nil
		}
	}
	return fmt.Errorf("%s answers with opcode 0x%02x", addr, op)
}

// call sends one v4 frame and returns the opcode of the answer.
func call(w io.Writer, r io.Reader, op byte, body []byte) (byte, error) {
	frame := append([]byte{4, 0, 0, 0, op}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
	if _, err := w.Write(append(frame, body...)); err != nil {
		return 0, err
	}
	var head [9]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	if _, err := io.CopyN(io.Discard, r, int64(binary.BigEndian.Uint32(head[5:]))); err != nil {
		return 0, err
	}
	return head[4], nil
}
