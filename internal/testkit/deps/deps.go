// SPDX-License-Identifier: Apache-2.0

// Package deps finds the parts that tests need besides Go: a JDK 17, Cassandra's jars, a Python
// with cqlsh and the Python driver, the Java and Node drivers, the clients of DynamoDB.
//
// `make deps` (fetch.sh in this folder) puts them into .deps/ of the repository, or into
// $EVENKEEL_DEPS. A test without a part that it needs fails and says what to do. It never skips.
//
// It imports nothing of this module.
package deps

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Root returns the repository's root: the nearest directory with go.mod, from the working directory
// upwards.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the repository: no go.mod above the working directory")
		}
		dir = parent
	}
}

// Dir returns the directory that `make deps` fills.
func Dir() (string, error) {
	if dir := os.Getenv("EVENKEEL_DEPS"); dir != "" {
		return dir, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, ".deps"), nil
}

// Path returns the path of a part below Dir, such as "cassandra" or "venv/bin/cqlsh". If the part
// is missing, the error says what to run.
func Path(name string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	p := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		return "", fmt.Errorf("%s is missing (%s): run `make deps`, which brings it", name, p)
	}
	return p, nil
}

var jdk = sync.OnceValues(findJava)

// Java returns the path of a java command of version 17, which Cassandra 5.0 needs.
func Java() (string, error) { return jdk() }

func findJava() (string, error) {
	var candidates []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, "bin", "java"))
	}
	if p, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, p)
	}
	for _, pattern := range []string{
		"/usr/lib/jvm/*17*/bin/java",
		"/Library/Java/JavaVirtualMachines/*17*/Contents/Home/bin/java",
		"/opt/homebrew/opt/openjdk@17/bin/java",
	} {
		found, _ := filepath.Glob(pattern) // the pattern is valid
		candidates = append(candidates, found...)
	}
	var seen []string
	for _, java := range candidates {
		v, err := javaVersion(java)
		if err != nil {
			continue
		}
		if v == "17" {
			return java, nil
		}
		seen = append(seen, fmt.Sprintf("%s is version %s", java, v))
	}
	msg := "Java 17 is missing (Cassandra 5.0 runs on it): install it (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
	if len(seen) > 0 {
		msg += "; found only: " + strings.Join(seen, ", ")
	}
	return "", errors.New(msg)
}

var versionLine = regexp.MustCompile(`version "(\d+)`)

func javaVersion(java string) (string, error) {
	out, err := exec.Command(java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -version: %w", java, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s -version: no version in its output", java)
	}
	return string(m[1]), nil
}
