// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// UnknownPlaceError reports that the cluster does not have the data centre or rack that the options
// name.
type UnknownPlaceError struct {
	What  string // "data centre" or "rack"
	Name  string
	Known []string // the existing names
}

func (e *UnknownPlaceError) Error() string {
	return fmt.Sprintf("the cluster has no %s %q; it has %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

// localDC returns the data centre whose hosts the package uses: that of the options, or the data
// centre of the first host that it reached. rows are those of system.local and system.peers. Only
// the first call checks the names in the options, because nodes may come and go later.
func (cl *Cluster) localDC(rows []map[string][]byte) (string, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.local != "" {
		return cl.local, nil
	}
	dc := cl.opts.LocalDC
	datacenters := names(rows, "data_center", func(map[string][]byte) bool { return true })
	switch {
	case dc == "":
		dc = string(rows[0]["data_center"])
		if len(datacenters) > 1 {
			cl.opts.Log.Info("requests go to the data centre of the contact point", "data centre", dc, "others", without(datacenters, dc))
		}
	case !slices.Contains(datacenters, dc):
		return "", &UnknownPlaceError{"data centre", dc, datacenters}
	}
	if rack := cl.opts.Rack; rack != "" {
		racks := names(rows, "rack", func(row map[string][]byte) bool { return string(row["data_center"]) == dc })
		if !slices.Contains(racks, rack) {
			return "", &UnknownPlaceError{"rack", rack, racks}
		}
	}
	cl.local = dc
	return dc, nil
}

// names returns the values of a column of some rows, each once, in order.
func names(rows []map[string][]byte, column string, of func(row map[string][]byte) bool) []string {
	var all []string
	for _, row := range rows {
		if name := string(row[column]); name != "" && of(row) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func without(all []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == name })
}
