// SPDX-License-Identifier: Apache-2.0

//go:build race

package wire

// raceDetector: under it sync.Pool drops things at random.
const raceDetector = true
