// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
)

// pom is what pom.xml in an application's folder says of its jars.
type pom struct {
	Dependencies []struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Version  string `xml:"version"`
	} `xml:"dependencies>dependency"`
}

// jarVersion returns the version of an artifact, as GROUP:ARTIFACT, that a folder's pom.xml pins.
func jarVersion(folder, artifact string) (string, error) {
	file := filepath.Join(folder, "pom.xml")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var p pom
	if err := xml.Unmarshal(text, &p); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	for _, d := range p.Dependencies {
		if d.Group+":"+d.Artifact == artifact {
			return d.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not pin %s", file, artifact)
}

// compileJava fetches an application's jars and compiles the program that runs their tests.
func compileJava(ctx context.Context, a *application, home, dir string) (*suite, error) {
	folder := filepath.Join(home, a.folder())
	version, err := a.pinned(home)
	if err != nil {
		return nil, err
	}
	java, err := deps.Java()
	if err != nil {
		return nil, err
	}
	jars, classes := filepath.Join(dir, a.folder()+"-jars"), filepath.Join(dir, a.folder()+"-classes")
	if _, err := output(ctx, folder, "mvn", "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+jars); err != nil {
		return nil, err
	}
	compilers, err := filepath.Glob(filepath.Join(jars, "ecj-*.jar"))
	if err != nil || len(compilers) != 1 {
		return nil, fmt.Errorf("the compiler among the jars of %s: %q, %w", a.folder(), compilers, err)
	}
	path := filepath.Join(jars, "*")
	all, err := filepath.Glob(path + ".jar")
	if err != nil {
		return nil, err
	}
	if _, err := output(ctx, folder, java, "-jar", compilers[0], "--release", "17", "-nowarn", "-cp", strings.Join(all, string(filepath.ListSeparator)), "-d", classes, a.Java+".java"); err != nil {
		return nil, err
	}
	args := append([]string{"-Xmx512m", "-cp", classes + string(filepath.ListSeparator) + path, a.Java}, a.Args...)
	return &suite{app: a, version: version, folder: dir, command: func(ctx context.Context, _ string) *exec.Cmd {
		return exec.CommandContext(ctx, java, args...)
	}}, nil
}
