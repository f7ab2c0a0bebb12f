// SPDX-License-Identifier: Apache-2.0

package datetime

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// months maps the names of the months and their usual abbreviations, in widely used languages:
// English, German, French, Spanish, Italian, Portuguese, Dutch, the Scandinavian ones, Finnish,
// Polish, Czech, Romanian, Hungarian, Turkish, Indonesian, Russian, Greek. No name means different
// months in two of them.
var months = names(monthNames...)

var monthNames = []string{
	`january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari tammikuu tammikuuta tammi stycznia styczeń sty leden ledna led ianuarie ian január ocak oca января январь янв ιανουαρίου ιανουάριος ιαν`,
	`february feb febr februar feber février févr fév fevrier fevr febrero febbraio fevereiro fev februari helmikuu helmikuuta helmi lutego luty lut únor února úno februarie február şubat şub февраля февраль фев февр φεβρουαρίου φεβρουάριος φεβ pebruari`,
	`march mar märz mär mrz maerz mars marzo março marco maart mrt marts maaliskuu maaliskuuta maalis marca marzec březen března bře martie március márc mart maret марта март мар μαρτίου μάρτιος μαρ`,
	`april apr avril avr abril abr aprile avril huhtikuu huhtikuuta huhti kwietnia kwiecień kwi duben dubna dub aprilie április ápr nisan nis апреля апрель апр απριλίου απρίλιος απρ`,
	`may mai mayo maggio mag maio mei maj toukokuu toukokuuta touko maja květen května kvě május máj mayıs мая май μαΐου μάιος μαϊ`,
	`june jun juni juin junio giugno giu junho kesäkuu kesäkuuta kesä czerwca czerwiec cze červen června čvn iunie iun június jún haziran haz июня июнь июн ιουνίου ιούνιος ιουν`,
	`july jul juli juillet juil julio luglio lug julho heinäkuu heinäkuuta heinä lipca lipiec lip červenec července čvc iulie iul július júl temmuz tem июля июль июл ιουλίου ιούλιος ιουλ`,
	`august aug août aout agosto ago augustus augusti elokuu elokuuta elo sierpnia sierpień sie srpen srpna srp augusztus ağustos ağu agustus agt августа август авг αυγούστου αύγουστος αυγ`,
	`september sep sept septembre septiembre setiembre settembre set setembro syyskuu syyskuuta syys września wrzesień wrz září zář septembrie szeptember szept eylül eyl сентября сентябрь сен сент σεπτεμβρίου σεπτέμβριος σεπ`,
	`october oct oktober okt octobre octubre ottobre ott outubro out lokakuu lokakuuta loka października październik paź říjen října říj octombrie október ekim eki октября октябрь окт οκτωβρίου οκτώβριος οκτ`,
	`november nov novembre noviembre novembro marraskuu marraskuuta marras listopada listopad lis listopadu noiembrie kasım kas ноября ноябрь ноя нояб νοεμβρίου νοέμβριος νοε nopember`,
	`december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro desember des joulukuu joulukuuta joulu grudnia grudzień gru prosinec prosince pro decembrie aralık ara декабря декабрь дек δεκεμβρίου δεκέμβριος δεκ`,
}

// weekdays maps names of days, which add nothing to the date.
var weekdays = names(`monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun
	montag mo dienstag di mittwoch mi donnerstag do freitag fr samstag sonnabend sa sonntag so
	lundi lun mardi mar mercredi mer jeudi jeu vendredi ven samedi sam dimanche dim
	lunes martes miércoles mié miercoles mie jueves jue viernes vie sábado sáb sabado sab domingo dom
	lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi gio venerdì venerdi sabato domenica
	segunda seg terça ter terca quarta qua quinta qui sexta sex feira
	maandag ma dinsdag woensdag wo donderdag vrijdag vr zaterdag za zondag zo
	måndag mån tisdag tis onsdag ons torsdag tor fredag fre lördag lör söndag sön mandag man tirsdag tir lørdag lør søndag søn
	maanantai tiistai ti keskiviikko ke torstai to perjantai pe lauantai la sunnuntai su
	poniedziałek pon wtorek wto środa śro śr czwartek czw cz piątek pią pt sobota sob niedziela nie nd
	pondělí po úterý út středa st čtvrtek čt pátek pá neděle ne
	понедельник пн вторник вт среда ср четверг чт пятница пт суббота сб воскресенье вс`)

// fillers maps words that stand between the parts of a date, or behind them.
var fillers = names(`de of del the den der le am um at à kl klo alle às as uhr on il dne г года год р`)

// names maps each name of a line to the number of the line, from 1.
func names(lines ...string) map[string]uint8 {
	all := make(map[string]uint8)
	for i, l := range lines {
		for _, n := range strings.Fields(l) {
			var buf [longestName]byte
			all[string(fold(&buf, []byte(n)))] = uint8(i + 1)
		}
	}
	return all
}

// longestName is the greatest length of a word that is looked up, in bytes.
const longestName = 32

// plain maps Latin letters with marks to the letters without, because not all programs write the
// marks.
var plain = func() map[rune]byte {
	all := make(map[rune]byte)
	for c, list := range map[byte]string{'a': "áàâäãåāăą", 'c': "çćč", 'd': "ďđ", 'e': "éèêëēěę", 'g': "ğģ", 'i': "íìîïīıİ", 'l': "łľ", 'n': "ñńň", 'o': "óòôöõőø", 'r': "řŕ", 's': "śšşș", 't': "ťţț", 'u': "úùûüūůű", 'y': "ýÿ", 'z': "źžż"} {
		for _, r := range list {
			all[r] = c
		}
	}
	return all
}()

// fold writes a word in lower case into a buffer, without marks on Latin letters. It returns nil if
// the word is too long.
func fold(buf *[longestName]byte, word []byte) []byte {
	if len(word) > longestName-4 {
		return nil
	}
	out := buf[:0]
	for i := 0; i < len(word); {
		if c := word[i]; c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			out = append(out, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(word[i:])
		i += n
		if len(out)+utf8.UTFMax > longestName {
			return nil
		}
		if r = unicode.ToLower(r); r >= 'á'-1 && r < 0x250 {
			if c, known := plain[r]; known {
				out = append(out, c)
				continue
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
