// SPDX-License-Identifier: Apache-2.0

package partitioner

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func load(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMurmur3IsCassandras(t *testing.T) {
	var vectors struct {
		Single []struct {
			Key   string
			Token int64
		}
		Composite []struct {
			Values []string
			Token  int64
		}
	}
	load(t, "testdata/tokens.json", &vectors)
	if len(vectors.Single) < 250 || len(vectors.Composite) < 40 {
		t.Fatalf("only %d and %d vectors", len(vectors.Single), len(vectors.Composite))
	}
	for _, v := range vectors.Single {
		if got := Murmur3(unhex(t, v.Key)); got != v.Token {
			t.Errorf("token of 0x%s = %d, want %d", v.Key, got, v.Token)
		}
	}
	for _, v := range vectors.Composite {
		var values [][]byte
		for _, s := range v.Values {
			values = append(values, unhex(t, s))
		}
		key := AppendComposite(nil, values...)
		if got := Murmur3(key); got != v.Token {
			t.Errorf("token of %v = %d, want %d", v.Values, got, v.Token)
		}
		split, err := SplitComposite(nil, key, len(values))
		if err != nil || !slices.EqualFunc(split, values, bytes.Equal) {
			t.Errorf("split of %x = %x, %v", key, split, err)
		}
	}
	if Murmur3(nil) != MinToken {
		t.Error("the empty key's token is not the least")
	}
}

func TestRandomAndHashCodeAreJavas(t *testing.T) {
	var vectors struct {
		Random []struct {
			Key, Token string
		}
		HashCode []struct {
			Text string
			Hash int32
		}
	}
	load(t, "testdata/java.json", &vectors)
	for _, v := range vectors.Random {
		if got := Random(unhex(t, v.Key)).String(); got != v.Token {
			t.Errorf("random token of 0x%s = %s, want %s", v.Key, got, v.Token)
		}
	}
	for _, v := range vectors.HashCode {
		for _, n := range []int{1, 4, 7, 200, 1 << 31} {
			want := (int(v.Hash)%n + n) % n
			if got := JavaMod(v.Text, n); got != want {
				t.Errorf("JavaMod(%q, %d) = %d, want %d", v.Text, n, got, want)
			}
		}
	}
}

// TestMD5ModReproducesTheExperiment recounts a published experiment: product
// codes 0..10 with 10, 110, … 1010 orders over four partitions.
func TestMD5ModReproducesTheExperiment(t *testing.T) {
	mod := func(s string, n int) int { return MD5Mod([]byte(s), n) }
	keys := []struct {
		name string
		of   func(code, user int) string
		want [4]int
	}{
		{"code", func(code, _ int) string { return strconv.Itoa(code) }, [4]int{2240, 1320, 920, 1130}},
		{"code#user", func(code, user int) string { return fmt.Sprintf("%d#%d", code, user) }, [4]int{1411, 1427, 1420, 1352}},
		{"code#salt", func(code, user int) string { return fmt.Sprintf("%d#%d", code, mod(strconv.Itoa(user), 200)) }, [4]int{1384, 1325, 1397, 1504}},
	}
	for _, k := range keys {
		var got [4]int
		for code := range 11 {
			for user := range 10 + 100*code {
				got[mod(k.of(code, user+1), 4)]++
			}
		}
		if got != k.want {
			t.Errorf("%s: %v, want %v", k.name, got, k.want)
		}
	}
}

func TestCompositeSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 4).Draw(t, "values")
		key := AppendComposite(nil, values...)
		split, err := SplitComposite(nil, key, len(values))
		if err != nil || !slices.EqualFunc(split, values, bytes.Equal) {
			t.Fatalf("split of %x = %x, %v", key, split, err)
		}
		if len(values) > 1 {
			if _, err := SplitComposite(nil, key[:len(key)-1], len(values)); err == nil {
				t.Fatal("a cut key splits")
			}
			if _, err := SplitComposite(nil, append(key, 0), len(values)); err == nil {
				t.Fatal("a key with more behind it splits")
			}
		}
	})
}

func FuzzSplitComposite(f *testing.F) {
	f.Add([]byte{0, 1, 'a', 0, 0, 0, 0}, 2)
	f.Add([]byte{0xff, 0xff}, 3)
	f.Fuzz(func(t *testing.T, key []byte, n int) {
		if n < 1 || n > 100 {
			return
		}
		split, err := SplitComposite(nil, key, n)
		if err == nil && len(split) != n {
			t.Fatalf("%d values of %d", len(split), n)
		}
	})
}

func TestNothingAllocates(t *testing.T) {
	key, dst := []byte("2020-07-09 The quick brown fox"), make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		dst = AppendComposite(dst[:0], key, key)
		_ = Murmur3(dst) + int64(MD5Mod(dst, 200))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMurmur3(b *testing.B) {
	for _, n := range []int{8, 16, 40} {
		key := bytes.Repeat([]byte{0xe9}, n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Murmur3(key)
			}
		})
	}
}
