// SPDX-License-Identifier: Apache-2.0

//go:build race

package cache

// raceDetector says that the race detector is on; with it, sync.Pool drops values at random.
const raceDetector = true
