// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
)

// comesBack lists, for each type, the other types with which Cassandra 5.0 lets a dropped column be
// added again. It covers these types and those in alone.
const comesBack = `
ascii: text blob
text: blob
bigint: timestamp
date: blob
decimal: blob
duration: blob
inet: blob
smallint: blob
tinyint: blob
time: blob
timestamp: bigint
timeuuid: uuid
varint: blob
list<ascii>: list<text> list<blob>
list<text>: list<blob>
set<ascii>: set<text> set<blob>
set<text>: set<blob>
map<ascii,ascii>: map<text,text> map<text,blob> map<blob,blob>
map<text,text>: map<text,blob> map<blob,blob>
map<text,blob>: map<blob,blob>
frozen<set<ascii>>: frozen<set<text>> frozen<set<blob>>
frozen<set<text>>: frozen<set<blob>>
frozen<map<ascii,ascii>>: frozen<map<text,text>> frozen<map<text,blob>> frozen<map<blob,text>>
frozen<map<text,text>>: frozen<map<text,blob>> frozen<map<blob,text>>
frozen<list<ascii>>: frozen<list<text>> frozen<list<blob>>
frozen<list<text>>: frozen<list<blob>>
frozen<list<smallint>>: frozen<list<blob>>
frozen<list<varint>>: frozen<list<blob>>
frozen<list<frozen<list<text>>>>: frozen<list<frozen<list<blob>>>>
tuple<int>: blob tuple<int,int> tuple<varint> tuple<date>
tuple<int,int>: blob
tuple<varint>: blob
tuple<bigint>: blob tuple<varint> tuple<timestamp>
tuple<timestamp>: blob tuple<varint> tuple<bigint>
tuple<date>: blob
vector<text,2>: blob
vector<ascii,2>: blob
vector<blob,2>: blob
`

// alone are types with which only a column of the same type can be added again.
var alone = strings.Fields("blob boolean double float int uuid list<int> list<blob> set<int> set<blob> map<int,int> map<blob,blob> " +
	"frozen<list<int>> frozen<list<blob>> frozen<set<int>> frozen<set<blob>> frozen<map<int,int>> frozen<map<text,blob>> frozen<map<blob,text>> " +
	"frozen<list<frozen<list<blob>>>> vector<int,2> vector<int,3> vector<float,2>")

func TestReadsAs(t *testing.T) {
	also := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(comesBack)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), ":")
		also[from] = strings.Fields(to)
	}
	for _, name := range alone {
		also[name] = nil
	}
	typ := func(name string) *value.Type {
		parsed, err := value.ParseType(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for from, to := range also {
		for name := range also {
			if from == name {
				continue
			}
			if want, got := slices.Contains(to, name), readsAs(typ(name), typ(from)); got != want {
				t.Errorf("dropped %s, added as %s: accepted %v, by Cassandra %v", from, name, got, want)
			}
		}
	}
}
