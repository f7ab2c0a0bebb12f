// SPDX-License-Identifier: Apache-2.0

// Package promrules checks the alert rules and the dashboard in examples/observability
// with Prometheus' own code: that it takes them, and that each alert fires when it should.
// What it needs is in module/go.mod, so that Prometheus is none of evenkeel's requirements;
// the Makefile's target test names the file, which no build takes by itself.
package promrules
