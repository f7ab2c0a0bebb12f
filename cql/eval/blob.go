// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/hex"

	"github.com/evenkeel/evenkeel/cql/value"
)

// blobNames are the native types, with their names in the names of functions.
var blobNames = []struct {
	name string
	kind value.Kind
}{
	{"ascii", value.Ascii}, {"bigint", value.Bigint}, {"boolean", value.Boolean}, {"counter", value.Counter},
	{"date", value.Date}, {"decimal", value.Decimal}, {"double", value.Double}, {"duration", value.Duration},
	{"empty", value.Empty}, {"float", value.Float}, {"inet", value.Inet}, {"int", value.Int},
	{"smallint", value.Smallint}, {"text", value.Text}, {"time", value.Time}, {"timestamp", value.Timestamp},
	{"timeuuid", value.Timeuuid}, {"tinyint", value.Tinyint}, {"uuid", value.UUID}, {"varchar", value.Text},
	{"varint", value.Varint},
}

func addBlobs(add func(*Function)) {
	for _, t := range blobNames {
		for _, name := range []string{t.name + "_as_blob", t.name + "asblob"} {
			f := function(name, value.Blob, t.kind)
			f.call = func(_ *Env, args [][]byte) ([]byte, error) { return args[0], nil }
			add(f)
		}
		for _, name := range []string{"blob_as_" + t.name, "blobas" + t.name} {
			f := function(name, t.kind, value.Blob)
			f.call = func(_ *Env, args [][]byte) ([]byte, error) {
				v := args[0]
				if v == nil {
					return nil, nil
				}
				if err := f.Returns.Validate(v); err != nil {
					return nil, invalid("In call to function system.%s, value 0x%s is not a valid binary representation for type %s",
						name, hex.EncodeToString(v), t.name)
				}
				return v, nil
			}
			add(f)
		}
	}
}
