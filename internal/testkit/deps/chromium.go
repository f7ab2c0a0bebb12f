// SPDX-License-Identifier: Apache-2.0

package deps

import (
	"errors"
	"os"
	"os/exec"
)

// Chromium returns the path of a Chromium or a similar browser: the one in $CHROMIUM, else the
// first that is installed.
func Chromium() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{
		"chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("Chromium is missing: run `make deps`, which installs it or says how, or set CHROMIUM to a browser of its kin")
}
