// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "os"

// notifyResize does nothing on this system. The next redraw uses the new size.
func notifyResize(chan<- os.Signal) {}
