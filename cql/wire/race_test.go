// SPDX-License-Identifier: Apache-2.0

//go:build race

package wire

// raceDetector is set if the race detector is on. With it, sync.Pool drops items at random.
const raceDetector = true
