// SPDX-License-Identifier: Apache-2.0

//go:build race

package cache

// raceDetector: under it sync.Pool drops things at random.
const raceDetector = true
