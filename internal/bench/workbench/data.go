// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// header lists the columns of the generated orders.
const header = "order_id,created_at,day,customer,product,country,status,amount,device,note\n"

var (
	countries = []string{"USA", "USA", "USA", "USA", "USA", "USA", "DEU", "GBR", "FRA", "IND", "BRA", "JPN"}
	statuses  = []string{"shipped", "shipped", "shipped", "shipped", "open", "open", "returned", "cancelled"}
	words     = []string{"gift", "express", "fragile", "call before delivery", "leave at the door", "second attempt", "bulk", "repeat order"}
)

// write writes a number of orders as CSV. They cover a year, and their customers and products have
// Zipf's popularity.
func write(name string, rows int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := orders(w, rows); err != nil {
		f.Close()
		return err
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func orders(w io.Writer, rows int) error {
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	customers := rand.NewZipf(rnd, 1.1, 10, 2_000_000)
	products := rand.NewZipf(rnd, 1.3, 5, 20_000)
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	const year = 366 * 24 * 3600 * 1000
	var line []byte
	var uuid [16]byte
	for i := range rows {
		ms := begin + int64(float64(i)/float64(rows)*year) + rnd.Int64N(2000)
		at := time.UnixMilli(ms).UTC()
		line = strconv.AppendInt(line[:0], int64(1_000_000+i), 10)
		line = append(line, ',')
		line = at.AppendFormat(line, "2006-01-02T15:04:05.000Z")
		line = append(line, ',')
		line = at.AppendFormat(line, time.DateOnly)
		line = append(line, ',', 'c')
		line = strconv.AppendUint(line, customers.Uint64(), 10)
		line = append(line, ',', 'P', '-')
		line = strconv.AppendUint(line, 10_000+products.Uint64(), 10)
		line = append(line, ',')
		line = append(line, countries[rnd.IntN(len(countries))]...)
		line = append(line, ',')
		line = append(line, statuses[rnd.IntN(len(statuses))]...)
		line = append(line, ',')
		line = strconv.AppendInt(line, rnd.Int64N(500), 10)
		line = append(line, '.')
		line = append(line, byte('0'+rnd.IntN(10)), byte('0'+rnd.IntN(10)), ',')
		device := rnd.Uint64N(500_000)
		binary.BigEndian.PutUint64(uuid[:], device*0x9e3779b97f4a7c15)
		binary.BigEndian.PutUint64(uuid[8:], device*0xd6e8feb86659fd93)
		uuid[6], uuid[8] = uuid[6]&0xf|0x40, uuid[8]&0x3f|0x80
		line = hex.AppendEncode(line, uuid[:4])
		for _, p := range [...][2]int{{4, 6}, {6, 8}, {8, 10}, {10, 16}} {
			line = append(line, '-')
			line = hex.AppendEncode(line, uuid[p[0]:p[1]])
		}
		line = append(line, ',')
		if rnd.IntN(3) == 0 {
			line = append(line, words[rnd.IntN(len(words))]...)
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
