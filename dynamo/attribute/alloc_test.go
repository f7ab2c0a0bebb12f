// SPDX-License-Identifier: Apache-2.0

package attribute_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// invoice is an item of one kilobyte, like that of the documentation.
var invoice = []byte(`{"InvoiceNumber":{"S":"121212"},"ClientTransactionid":{"S":"Client1_TimeStamp_1"},"amount":{"N":"25.5"},` +
	`"currency":{"S":"USD"},"trans_country":{"S":"USA"},"lines":{"L":[{"M":{"sku":{"S":"a"},"n":{"N":"2"}}},{"M":{"sku":{"S":"b"},"n":{"N":"1"}}}]},` +
	`"paid":{"BOOL":true},"note":{"S":"` + strings.Repeat("x", 800) + `"}}`)

func TestDecodingAndEncodingDoNotAllocate(t *testing.T) {
	var d attribute.Decoder
	var dst []byte
	step := func() {
		d.Reset()
		item, err := d.Item(invoice)
		if err != nil || item.Validate() != nil || item.Size() < 800 {
			t.Fatal(err)
		}
		dst = attribute.AppendItem(dst[:0], item)
		v, _ := item.Get("ClientTransactionid")
		dst = attribute.AppendKey(dst, v)
	}
	step()
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("%v allocations to decode and encode an item", n)
	}
}

func TestComparingDoesNotAllocate(t *testing.T) {
	a, _ := attribute.Number("12.5")
	b, _ := attribute.Number("-0.00001")
	if n := testing.AllocsPerRun(100, func() { attribute.Compare(a, b) }); n > 0 {
		t.Errorf("%v allocations to compare numbers", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	var d attribute.Decoder
	b.SetBytes(int64(len(invoice)))
	b.ReportAllocs()
	for b.Loop() {
		d.Reset()
		if _, err := d.Item(invoice); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	var d attribute.Decoder
	item, err := d.Item(invoice)
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.SetBytes(int64(len(invoice)))
	b.ReportAllocs()
	for b.Loop() {
		dst = attribute.AppendItem(dst[:0], item)
	}
}

func ExampleDecoder() {
	var d attribute.Decoder
	item, err := d.Item([]byte(`{"pk": {"S": "a"}, "n": {"N": "1.50"}}`))
	if err != nil {
		panic(err)
	}
	v, _ := item.Get("n")
	fmt.Println(v.Text(), item)
	// Output: 1.5 {"n":{"N":"1.5"},"pk":{"S":"a"}}
}
