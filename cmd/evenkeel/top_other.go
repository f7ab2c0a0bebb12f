// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "os"

// notifyResize does nothing here: the next picture has the new size.
func notifyResize(chan<- os.Signal) {}
