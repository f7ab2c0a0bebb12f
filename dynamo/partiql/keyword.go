// SPDX-License-Identifier: Apache-2.0

package partiql

import "strings"

func words(list string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		all[w] = true
	}
	return all
}

// keywords are the words of the grammar. They are names only in double quotes. DynamoDB has more
// keywords, but nobody has published a list of them.
var keywords = words(`select insert update delete from into value where and or not in between is like null missing true false order by
	asc desc set remove returning as group having limit offset join union distinct case when then else end cast exists`)

// typeNames are the types that IS may ask for. DynamoDB supports only MISSING and NULL.
var typeNames = words(`bool boolean smallint int int4 int8 integer float real double decimal numeric timestamp date time
	character char varchar string symbol clob blob struct tuple list sexp bag any`)

func isKeyword(w string) bool { return keywords[strings.ToLower(w)] }
