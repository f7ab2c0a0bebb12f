// SPDX-License-Identifier: Apache-2.0

package api

// DescribeEndpoints returns the endpoint that a client is to use.
type DescribeEndpoints struct{}

// Operation implements Request.
func (*DescribeEndpoints) Operation() string { return "DescribeEndpoints" }

// Decode implements Request.
func (q *DescribeEndpoints) Decode(d *Decoder, body []byte) error {
	var in input
	return d.read(body, &in, 0)
}
