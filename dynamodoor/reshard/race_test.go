// SPDX-License-Identifier: Apache-2.0

//go:build race

package reshard

// raceDetector: under it an exploration, which has no goroutines, takes ten times as long.
const raceDetector = true
