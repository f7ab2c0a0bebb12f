// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"math/rand/v2"
	"strings"
)

// role is the role of a column in the process.
type role int

const (
	entity role = iota // the writer
	kind               // a second part of the writer
	when               // the time of the write
	day                // the day of when, in its own column
	id                 // identifies rows, or is named as if it did
	status             // one of a few values
	number
	note
	other // a time other than that of the write
	roles
)

// words are the names of columns by language. A role has several names.
var words = map[string][roles][]string{
	"en": {
		{"device_id", "customer", "tenant", "vehicle", "account_no", "channel", "store"}, {"kind", "topic", "metric", "category"}, {"ts", "created_at", "event_time", "recorded_at", "at"}, {"event_date", "business_day"},
		{"event_id", "order_id", "message_id", "reference", "uid"}, {"status_id", "state", "country", "status", "type_id"}, {"value", "amount", "reading", "total"}, {"payload", "comment", "body"}, {"birth_date", "valid_until", "due_date"},
	},
	"de": {
		{"geraet_id", "kunde", "mandant", "fahrzeug", "konto_nr", "kanal", "filiale"}, {"art", "thema", "messgroesse"}, {"zeitpunkt", "erstellt_am", "buchungszeit", "gemessen_um"}, {"tag", "buchungstag"},
		{"vorgang_id", "auftragsnummer", "beleg_nr", "kennung"}, {"status_id", "zustand", "land", "typ"}, {"wert", "betrag", "messwert"}, {"bemerkung", "inhalt", "text"}, {"geburtsdatum", "gueltig_bis", "faellig_am"},
	},
	"fr": {
		{"appareil", "client_id", "locataire", "vehicule", "compte", "canal", "magasin"}, {"genre", "sujet", "mesure"}, {"horodatage", "cree_le", "date_heure", "instant"}, {"jour", "date_operation"},
		{"evenement_id", "commande", "reference", "numero"}, {"statut_id", "etat", "pays", "type"}, {"valeur", "montant", "releve"}, {"commentaire", "contenu"}, {"date_naissance", "valable_jusque", "echeance"},
	},
	"es": {
		{"dispositivo", "cliente_id", "inquilino", "vehiculo", "cuenta", "canal", "tienda"}, {"clase", "tema", "medida"}, {"fecha_hora", "creado_en", "instante", "momento"}, {"dia", "fecha_operacion"},
		{"evento_id", "pedido", "referencia", "numero"}, {"estado_id", "estado", "pais", "tipo"}, {"valor", "importe", "lectura"}, {"comentario", "contenido"}, {"fecha_nacimiento", "valido_hasta", "vencimiento"},
	},
	"pl": {
		{"urzadzenie", "klient_id", "najemca", "pojazd", "konto", "kanal", "sklep"}, {"rodzaj", "temat", "miara"}, {"czas", "utworzono", "data_zapisu", "moment"}, {"dzien", "data_operacji"},
		{"zdarzenie_id", "zamowienie", "sygnatura", "numer"}, {"status_id", "stan", "kraj", "typ"}, {"wartosc", "kwota", "odczyt"}, {"uwagi", "tresc"}, {"data_urodzenia", "wazne_do", "termin"},
	},
	"it": {
		{"dispositivo", "cliente_id", "inquilino", "veicolo", "conto", "canale", "negozio"}, {"genere", "tema", "misura"}, {"orario", "creato_il", "istante", "registrato"}, {"giorno", "data_operazione"},
		{"evento_id", "ordine", "riferimento", "numero"}, {"stato_id", "stato", "paese", "tipo"}, {"valore", "importo", "lettura"}, {"commento", "contenuto"}, {"data_nascita", "valido_fino", "scadenza"},
	},
}

var languages = []string{"de", "en", "es", "fr", "it", "pl"}

var tables = []string{"events", "readings", "messungen", "orders", "auftraege", "mouvements", "pedidos", "zdarzenia", "shop.orders", "iot.readings"}

// name draws the name of a role's column, different from the other columns' names.
func (s *Set) name(r *rand.Rand, ro role) string {
	list := words[s.language][ro]
	for {
		n := list[r.IntN(len(list))]
		if s.camel {
			parts := strings.Split(n, "_")
			for i := range parts[1:] {
				parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
			}
			n = strings.Join(parts, "")
		}
		if s.at(n) < 0 {
			return n
		}
		list = append(list, n+"2")
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// chance returns true in a percentage of the draws.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }
