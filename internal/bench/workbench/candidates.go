// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// candidates returns the keys that both measure.
func candidates() []profile.Candidate {
	var list []profile.Candidate
	add := func(clustering string, parts ...profile.Part) {
		list = append(list, profile.Candidate{Partition: parts, Clustering: []string{clustering}, Time: "created_at"})
	}
	column := func(c string) profile.Part { return profile.Part{Column: c} }
	bucket := func(g profile.Granularity) profile.Part { return profile.Part{Column: "created_at", Bucket: g} }
	for _, c := range []string{"customer", "product", "country", "status", "device", "day"} {
		add("order_id", column(c))
		add("order_id", column(c), bucket(profile.Day))
		add("order_id", column(c), bucket(profile.Month))
	}
	add("created_at", column("order_id"))
	add("order_id", bucket(profile.Hour))
	return list
}

// sql returns a candidate's partition key as columns of a SELECT.
func sql(c profile.Candidate) string {
	var parts []string
	for _, p := range c.Partition {
		if p.Bucket == profile.Whole {
			parts = append(parts, p.Column)
			continue
		}
		parts = append(parts, fmt.Sprintf("date_trunc('%s', %s) AS at_%s", p.Bucket, p.Column, p.Bucket))
	}
	return strings.Join(parts, ", ")
}
