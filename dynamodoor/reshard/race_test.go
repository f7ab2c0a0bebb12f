// SPDX-License-Identifier: Apache-2.0

//go:build race

package reshard

// raceDetector says that the race detector is on; with it, an exploration, which has no goroutines,
// takes ten times as long.
const raceDetector = true
