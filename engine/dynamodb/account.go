// SPDX-License-Identifier: Apache-2.0

package dynamodb

import "github.com/evenkeel/evenkeel/dynamo/api"

// describeLimits returns AWS's default limits. The engine itself has no such limits.
func describeLimits() (api.Response, error) {
	return &api.LimitsResponse{AccountRead: 80_000, AccountWrite: 80_000, TableRead: 40_000, TableWrite: 40_000}, nil
}

func describeEndpoints(region string) (api.Response, error) {
	return &api.EndpointsResponse{Address: "dynamodb." + region + ".amazonaws.com"}, nil
}
