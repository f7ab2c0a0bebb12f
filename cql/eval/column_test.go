// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

var textColumn = &schema.Column{Name: "t", Type: value.Native(value.Text), Kind: schema.Regular, Position: -1}
