// SPDX-License-Identifier: Apache-2.0

// Command blogs prints a day of 10,000 blog posts as CSV for cqlsh's COPY:
// publish_date, title, description. The titles are varied as real ones are: short
// and long, questions, lists, names of places, several scripts, commas and quotes.
// The output is always the same; day.csv is it.
package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
)

const (
	day   = "2020-07-09"
	posts = 10_000
)

var (
	subjects = strings.Split("sourdough bread|a bicycle wheel|the garden pond|old maps|jazz piano|a leaking tap|watercolour|trail running|chess openings|rooftop tomatoes|the night sky|film cameras|a wooden boat|tide pools|mountain huts|street food|letterpress|bees|the city tram|Roman roads|a mechanical watch|cold-water swimming|choral music|pottery|fermented vegetables|amateur radio|bird song|lighthouses|a stone wall|typewriters|the public library|folk dances|river fishing|crossword puzzles|moss|a second language|weather balloons|paper planes|tea houses|winter camping|the family recipe book|hand-drawn type|canal locks|harvest festivals|ghost signs|a vegetable knife|model trains|urban foxes|glaciers|knitting|the school orchestra|market days|a broken radio|wild garlic|marathon training|pinhole photographs|bookbinding|night buses|an attic|meadow flowers|a tiny kitchen|ferry timetables|local elections|a wood stove|postcards|reading aloud|long walks|vinyl records|rain barrels|ice cream", "|")
	places   = strings.Split("Lisbon|Tromsø|Valparaíso|Kyoto|Marseille|Reykjavík|Oaxaca|Tbilisi|Cape Town|Wrocław|Hobart|Montréal|Nairobi|Göteborg|Kraków|Cork|São Paulo|Hanoi|Ljubljana|Dunedin|Bilbao|Tallinn|Kolkata|Portland|Zürich|Seville|Aleppo|Galway|Busan|Fez|Bergen|Cusco|Trieste|Leipzig|Jaipur|Malmö|Turku|Naples|Luang Prabang|Ghent", "|")
	people   = strings.Split("my grandmother|a retired engineer|two beginners|the neighbours|a patient teacher|my younger self|a night nurse|the whole street|an impatient cook|a class of ten-year-olds|a lighthouse keeper|someone who hates mornings|a careful amateur|three sisters|the last tram driver", "|")
	lessons  = strings.Split("slows down|never goes to plan|is worth the mud|costs less than you think|starts the evening before|needs two pairs of hands|looks better in the rain|was never about winning|fits in a backpack|takes a whole summer|can be learned in a week|makes good neighbours|keeps you honest|is mostly waiting|is a kind of map", "|")
	feelings = strings.Split("quiet|stubborn|unexpected|slow|ordinary|forgotten|small|honest|cheap|noisy|patient|late|crooked|borrowed|first", "|")
	others   = strings.Split("Одно лето у моря|Почему мы снова печём хлеб|Как починить старое радио|夜市を歩く|京都の静かな朝|小さな台所の工夫|山小屋からの手紙|一座老图书馆的下午|为什么我又开始写信|雨天的渡轮|قصة مقهى قديم|خريطة المدينة القديمة|Ένα πρωινό στο λιμάνι|Το βιβλίο με τις συνταγές|גינה על הגג|서울의 마지막 전차|골목길 산책|Ein Sommer ohne Fahrplan|Les cartes de ma grand-mère|El taller de la bicicleta|Il mercato del giovedì|Brev från en fyr|Kolme päivää saaristossa|Czego nauczył mnie ogród|Bir çay molası|दादी की रसोई", "|")
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "blogs:", err)
		os.Exit(1)
	}
}

func write(out io.Writer) error {
	rnd := rand.New(rand.NewPCG(2020, 709))
	pick := func(words []string) string { return words[rnd.IntN(len(words))] }
	forms := []func() string{
		func() string { return upper(pick(subjects)) },
		func() string { return upper(pick(subjects)) + ", and why it " + pick(lessons) },
		func() string { return fmt.Sprintf("What %s taught me about %s", pick(people), pick(subjects)) },
		func() string { return fmt.Sprintf("%d notes on %s", 2+rnd.IntN(97), pick(subjects)) },
		func() string { return fmt.Sprintf("Why %s: %s", pick(subjects), pick(lessons)) },
		func() string { return fmt.Sprintf("%s: a %s guide", pick(places), pick(feelings)) },
		func() string { return fmt.Sprintf("One %s week in %s", pick(feelings), pick(places)) },
		func() string { return fmt.Sprintf("Is %s still worth it in %s?", pick(subjects), pick(places)) },
		func() string {
			return fmt.Sprintf("“%s”: a conversation with %s", upper(pick(lessons)), pick(people))
		},
		func() string {
			return fmt.Sprintf("From %s to %s, with %s", pick(places), pick(places), pick(subjects))
		},
		func() string { return fmt.Sprintf("%s for %s", upper(pick(subjects)), pick(people)) },
		func() string { return fmt.Sprintf("Against %s", pick(subjects)) },
		func() string { return fmt.Sprintf("The %s truth about %s", pick(feelings), pick(subjects)) },
		func() string {
			return fmt.Sprintf("Day %d of %s: it %s", 1+rnd.IntN(365), pick(subjects), pick(lessons))
		},
		func() string { return pick(others) },
		func() string { return fmt.Sprintf("%s (%s)", pick(others), pick(places)) },
		func() string { return fmt.Sprintf("%s, part %d", pick(others), 2+rnd.IntN(30)) },
		func() string { return fmt.Sprintf("It %s — letters from %s", pick(lessons), pick(places)) },
		func() string { return fmt.Sprintf("%s's %s", pick(places), pick(subjects)) },
	}
	w := csv.NewWriter(out)
	for seen := map[string]bool{}; len(seen) < posts; {
		title := forms[rnd.IntN(len(forms))]()
		if seen[title] {
			continue
		}
		seen[title] = true
		w.Write([]string{day, title, fmt.Sprintf("One %s story of %s in %s; it %s.", pick(feelings), pick(subjects), pick(places), pick(lessons))})
	}
	w.Flush()
	return w.Error()
}

// upper begins a title.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
