package cqldoor

import "bytes"

type Target struct{ Kind int; Keyspace, Table string }
const (
 KindUse = 1
 KindSelect = 2
)
func target(text []byte) (Target, bool) {
	f := bytes.Fields(text)
	if len(f) == 0 { return Target{}, false }
	switch string(bytes.ToLower(f[0])) {
	case "use": return Target{Kind: KindUse, Keyspace: string(bytes.Trim(f[1], `";`))}, true
	case "select":
		for i, w := range f {
			if string(bytes.ToLower(w)) == "from" && i+1 < len(f) {
				ks, t, ok := bytes.Cut(f[i+1], []byte("."))
				if !ok { return Target{Kind: KindSelect, Table: string(bytes.Trim(ks, ";"))}, true }
				return Target{Kind: KindSelect, Keyspace: string(ks), Table: string(bytes.Trim(t, ";"))}, true
			}
		}
	}
	return Target{}, true
}
