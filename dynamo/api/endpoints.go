// SPDX-License-Identifier: Apache-2.0

package api

// DescribeEndpoints tells the endpoint to use.
type DescribeEndpoints struct{}

// Operation implements Request.
func (*DescribeEndpoints) Operation() string { return "DescribeEndpoints" }

// Decode implements Request.
func (q *DescribeEndpoints) Decode(d *Decoder, body []byte) error {
	var in input
	return d.read(body, &in, 0)
}
