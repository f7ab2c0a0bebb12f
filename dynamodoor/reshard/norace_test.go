//go:build !race

package reshard

const raceDetector = false
