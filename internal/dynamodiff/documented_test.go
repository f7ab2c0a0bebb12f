// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestDocumented runs scripts whose answers are those that AWS documents, or that
// others have published of the service, where dynalite answers otherwise or not at
// all; each script says which. Plain tables and sharded ones are to answer alike, here
// and in front of another endpoint.
//
//	request OPERATION [quiet] [member=PATH] [names]   the body; of the answer that
//	                                                  member alone, or all names
func TestDocumented(t *testing.T) {
	engine := func(t *testing.T) Target { return engineDoor(t, 4) }
	front := func(t *testing.T) Target { return frontOf(t, bareDoor(t), 4) }
	for _, c := range []struct {
		name   string
		serve  func(t *testing.T) Target
		shards int
	}{
		{"plain", engine, 0}, {"shards=1", engine, 1}, {"shards=5", engine, 5}, {"plain in front", front, 0}, {"shards=3 in front", front, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if datadrivenRewrites() && c.name != "plain" {
				return // the plain table's answers are what is written
			}
			datadriven.Walk(t, "testdata/aws", func(t *testing.T, path string) {
				p := &partiql{target: c.serve(t), shards: c.shards}
				datadriven.RunTest(t, path, p.run)
			})
		})
	}
}
