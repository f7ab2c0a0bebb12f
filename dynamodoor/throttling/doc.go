// SPDX-License-Identifier: Apache-2.0

// Package throttling finds out why a store throttles requests, and for which partition keys.
//
// A store may throttle for three causes. One partition has used all its throughput (a hot key, which
// shards cure). The table or index has used its provisioned throughput. Or the account's quota, or
// the maximum of an on-demand table, is reached. DynamoDB names the cause in ThrottlingReasons, and
// sometimes only in the error's text. If it does not, the cause is Untold: the package never guesses
// a cause.
//
// A Store stands in front of the store that shards tables, so that keys and tables are the client's.
// It promises:
//
//  1. Requests and answers pass unchanged. The Store does not read a request that is not throttled.
//  2. It also counts throttled requests to single shards that the door has retried and the client
//     does not see.
//  3. The counts are limited to MaxTables tables and MaxKeys keys. If there are more keys, the
//     package keeps those that are throttled most often.
//  4. Keys are hashed unless Options.ShowKeys is set.
//
// It imports observe, and of the DynamoDB language dynamo/api, dynamo/attribute,
// dynamo/exception and dynamo/schema.
package throttling
