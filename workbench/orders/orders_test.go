package orders

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/evenkeel/evenkeel/partitioner"
)

func TestOrders(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	perCode, uuids := make(map[int]int), make(map[string]bool)
	for o := range Orders(1) {
		perCode[o.Code]++
		if o.User != perCode[o.Code] {
			t.Fatalf("order %+v is number %d of its code", o, perCode[o.Code])
		}
		if !form.MatchString(o.UUID) {
			t.Fatalf("%s is no UUID of version 4", o.UUID)
		}
		uuids[o.UUID] = true
	}
	total := 0
	for code := range 11 {
		if perCode[code] != 10+100*code {
			t.Errorf("code %d has %d orders", code, perCode[code])
		}
		total += perCode[code]
	}
	if total != 5610 || len(uuids) != total {
		t.Errorf("%d orders, %d UUIDs", total, len(uuids))
	}
	if slices.Equal(slices.Collect(Emails(1)), slices.Collect(Emails(2))) {
		t.Error("two seeds give the same addresses")
	}
	if a, b := slices.Collect(Emails(7)), slices.Collect(Emails(7)); !slices.Equal(a, b) || len(a) != 4603 {
		t.Errorf("%d addresses, or one seed gives two lists", len(a))
	}
}

// spread puts keys on four partitions and returns how far the fullest is above
// the emptiest.
func spread(keys func(func(string) bool)) int {
	var sizes [4]int
	for k := range keys {
		sizes[partitioner.MD5Mod([]byte(k), 4)]++
	}
	return slices.Max(sizes[:]) - slices.Min(sizes[:])
}

// TestRandomKeysKeepTheirBoundsMostly holds what the documents say of the
// experiment's bounds to 2,000 draws, with the seeds 1 to 2,000.
func TestRandomKeysKeepTheirBoundsMostly(t *testing.T) {
	const draws = 2000
	uuids, lazy, real, sum, worst := 0, 0, 0, 0, 0
	for seed := range uint64(draws) {
		if spread(func(yield func(string) bool) {
			for o := range Orders(seed + 1) {
				if !yield(o.UUID) {
					return
				}
			}
		}) > 150 {
			uuids++
		}
		if spread(LazyEmails(seed+1)) > 400 {
			lazy++
		}
		d := spread(Emails(seed + 1))
		if d > 400 {
			real++
		}
		sum, worst = sum+d, max(worst, d)
	}
	share := func(n int) string { return strconv.FormatFloat(100*float64(n)/draws, 'f', 1, 64) + "%" }
	t.Logf("UUIDs more than 150 apart: %s; lazy addresses more than 400 apart: %s; real ones: %s, %d apart on average, %d at worst",
		share(uuids), share(lazy), share(real), sum/draws, worst)
	if uuids < draws*15/1000 || uuids > draws*35/1000 {
		t.Errorf("UUIDs break 150 in %s of the draws, about 2.4%% was expected", share(uuids))
	}
	if lazy < draws*48/100 || lazy > draws*58/100 {
		t.Errorf("lazy addresses break 400 in %s of the draws, about 53%% was expected", share(lazy))
	}
	if real != 0 || sum/draws < 64 || sum/draws > 74 || worst > 200 {
		t.Errorf("real addresses: %d break 400, mean %d, worst %d", real, sum/draws, worst)
	}
}

func TestLazyAddressesAreFew(t *testing.T) {
	distinct := make(map[string]bool)
	for e := range LazyEmails(1) {
		distinct[e] = true
	}
	if len(distinct) != 186 {
		t.Errorf("%d distinct addresses", len(distinct))
	}
}
