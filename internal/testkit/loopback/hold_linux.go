// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// hold binds a socket that never listens. With SO_REUSEADDR, which servers set, another socket may
// be bound to the same port and listen. But a process that asks for any port, to listen or to
// connect from, gets one to which no socket is bound.
func hold() (addr string, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, os.NewSyscallError("socket", err)
	}
	release = func() { _ = syscall.Close(fd) }
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}
	var at syscall.Sockaddr
	if err == nil {
		at, err = syscall.Getsockname(fd)
	}
	if err != nil {
		release()
		return "", nil, fmt.Errorf("hold a port: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(at.(*syscall.SockaddrInet4).Port)), release, nil
}
