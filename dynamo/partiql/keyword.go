package partiql

import "strings"

// keywords are the words that are no names unless they stand in double quotes:
// those of SQL-92, and PartiQL's own (PartiQL specification, "Reserved words").
var keywords = func() map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(`
		absolute action add all allocate alter and any are as asc assertion at authorization avg begin between bit bit_length by
		cascade cascaded case cast catalog char char_length character character_length check close coalesce collate collation column
		commit connect connection constraint constraints continue convert corresponding count create cross current current_date
		current_time current_timestamp current_user cursor date deallocate dec decimal declare default deferrable deferred delete
		desc describe descriptor diagnostics disconnect distinct domain double drop else end escape except exception exec execute
		exists external extract false fetch first float for foreign found from full get global go goto grant group having identity
		immediate in indicator initially inner input insensitive insert int integer intersect interval into is isolation join key
		language last left level like local lower match max min module names national natural nchar next no not null nullif numeric
		octet_length of on only open option or order outer output overlaps pad partial position precision prepare preserve primary
		prior privileges procedure public read real references relative restrict revoke right rollback rows schema scroll section
		select session session_user set size smallint some space sql sqlcode sqlerror sqlstate substring sum system_user table
		temporary then time timestamp to trailing transaction translate translation trim true union unique unknown update upper
		usage user using value values varchar varying view when whenever where with work write zone
		missing pivot unpivot limit tuple remove index returning
		bool boolean string symbol clob blob struct list sexp bag`) {
		all[w] = true
	}
	return all
}()

// typeNames are the types that IS may ask for. DynamoDB tells MISSING and NULL
// only.
var typeNames = func() map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(`bool boolean smallint int int4 int8 integer float real double decimal numeric timestamp date time
		character char varchar string symbol clob blob struct tuple list sexp bag any`) {
		all[w] = true
	}
	return all
}()

func isKeyword(w string) bool { return keywords[strings.ToLower(w)] }
