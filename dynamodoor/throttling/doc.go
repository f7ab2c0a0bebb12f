// SPDX-License-Identifier: Apache-2.0

// Package throttling says why a store throttles requests, and for which partition keys.
//
// A store may throttle for three causes: one partition has taken all that a partition can
// (a hot key, which shards cure); the table or index has taken its provisioned throughput;
// the account's quota, or the maximum that an on-demand table was given, is reached. DynamoDB
// says which in ThrottlingReasons, and sometimes only in the error's text. Where it does
// not say, the cause is Untold; it is never guessed.
//
// A Store stands in front of the store that shards tables, so that keys and tables are the
// client's. It promises:
//
//  1. What passes is unchanged. A request that is not throttled is not read.
//  2. Throttled requests to single shards count, too, where the door has tried them again
//     and the client sees nothing of them.
//  3. What is counted is bounded: MaxTables tables, MaxKeys keys. Of more keys those stay
//     that are throttled most often.
//  4. Keys are hashed unless Options.ShowKeys is set.
//
// It imports observe, and of the DynamoDB language dynamo/api, dynamo/attribute,
// dynamo/exception and dynamo/schema.
package throttling
