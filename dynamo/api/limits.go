// SPDX-License-Identifier: Apache-2.0

package api

// DescribeLimits returns the account's limits.
type DescribeLimits struct{}

// Operation implements Request.
func (*DescribeLimits) Operation() string { return "DescribeLimits" }

// Decode implements Request.
func (q *DescribeLimits) Decode(d *Decoder, body []byte) error {
	var in input
	return d.read(body, &in, 0)
}
