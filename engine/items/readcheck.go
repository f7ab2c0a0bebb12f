package items

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// What a Query and a Scan ask of the table that they read, in AWS's order.

const startInvalid = "The provided starting key is invalid"

// checkIndex resolves the index, and says whether it may be read so.
func (r *reading) checkIndex() error {
	if r.Index == "" {
		return nil
	}
	if r.ix = r.sh.index(r.Index); r.ix == nil {
		return exception.Invalid("The table does not have the specified index: %s", r.Index)
	}
	switch {
	case !r.ix.local && r.Consistent:
		return exception.Invalid("Consistent reads are not supported on global secondary indexes")
	case r.ix.Backfilling:
		return exception.Invalid("Cannot read from backfilling global secondary index: %s", r.Index)
	}
	return nil
}

// key is the key schema of what is read.
func (r *reading) key() schema.Key {
	if r.ix == nil {
		return r.sh.Table.Key
	}
	return r.ix.Key
}

// startLength says whether the ExclusiveStartKey has as many attributes as it must.
func (r *reading) startLength() bool {
	names := r.sh.Table.Key.Names(nil)
	for _, n := range r.key().Names(nil) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return len(r.Start) == len(names)
}

// checkStartIndex says whether the ExclusiveStartKey has the attributes of the key
// that is read.
func (r *reading) checkStartIndex() error {
	for i, names := range [2][]string{r.key().Hash, r.key().Range} {
		for _, name := range names {
			v, ok := r.Start.Get(name)
			switch {
			case !ok:
				return exception.Invalid(startInvalid)
			case v.Kind() != r.sh.Table.Type(name):
				return exception.Invalid("The provided key element does not match the schema")
			}
			if err := checkStartValue(name, v, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkStartValue(name string, v attribute.Value, hash bool) error {
	if v.Kind() == attribute.N {
		return nil
	}
	switch n := len(v.Text()); {
	case n == 0:
		return expression.EmptyKey(name, v.Kind())
	case hash && n > attribute.MaxHashSize:
		return exception.InvalidParameters("Size of hashkey has exceeded the maximum size limit of2048 bytes")
	case !hash && n > attribute.MaxRangeSize:
		return exception.InvalidParameters("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

// checkStartTable says whether the ExclusiveStartKey has the table's key.
func (r *reading) checkStartTable() error {
	if err := r.sh.Table.CheckKey(r.Start.Only(r.sh.Table.Key.Names(nil)...)); err != nil {
		return exception.Invalid("%s: %s", startInvalid, exception.Of(err).Message)
	}
	return nil
}

// checkSelect says whether a global index has the attributes that are asked for;
// from a local one, what is missing is fetched from the table.
func (r *reading) checkSelect() error {
	if r.ix == nil || r.ix.local || r.ix.projected == nil {
		return nil
	}
	if r.Select == api.SelectAll {
		return exception.InvalidParameters("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", r.Index)
	}
	return nil
}

// checkQuery says what is wrong with a Query, and what it means.
func (r *reading) checkQuery(q *api.Query) (k expression.KeyRange, err error) {
	if err := r.checkIndex(); err != nil {
		return k, err
	}
	hash, sort := keyAttributes(r.sh.Table, r.key())
	if r.Start != nil {
		if !r.startLength() {
			return k, exception.Invalid(startInvalid)
		}
		if err := r.checkStartIndex(); err != nil {
			return k, err
		}
	}
	if k, err = q.KeyCondition.For(hash, sort); err != nil {
		return k, err
	}
	if r.Start != nil {
		if err := r.checkStartTable(); err != nil {
			return k, err
		}
		if err := r.checkStartRange(&k); err != nil {
			return k, err
		}
	}
	if err := r.sh.Table.CheckPaths(slices.Values(r.Projection.Paths())); err != nil {
		return k, err
	}
	if err := r.sh.Table.CheckFilter(r.key(), r.Filter, r.FilterName); err != nil {
		return k, err
	}
	return k, r.checkSelect()
}

// checkStartRange says whether the ExclusiveStartKey is where the Query reads.
func (r *reading) checkStartRange(k *expression.KeyRange) error {
	key := r.key()
	same := true
	for i, name := range key.Hash {
		v, _ := r.Start.Get(name)
		same = same && v.Equal(k.Hash[i])
	}
	if k.Op == expression.NoRange && len(k.Prefix) == 0 {
		if !same {
			return exception.Invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		return nil
	}
	values := make([]attribute.Value, len(key.Range))
	for i, name := range key.Range {
		values[i], _ = r.Start.Get(name)
	}
	switch {
	case !k.Match(values):
		return exception.Invalid("The provided starting key does not match the range key predicate")
	case !same:
		return exception.Invalid("The query can return at most one row and cannot be restarted")
	}
	return nil
}

// checkScan says what is wrong with a Scan.
func (r *reading) checkScan() error {
	if err := r.checkIndex(); err != nil {
		return err
	}
	if r.Start != nil {
		switch {
		case r.startLength():
		case r.ix == nil:
			return exception.Invalid("%s: The provided key element does not match the schema", startInvalid)
		default:
			return exception.Invalid(startInvalid)
		}
		if r.ix != nil {
			if err := r.checkStartIndex(); err != nil {
				return err
			}
		}
	}
	if err := r.checkSelect(); err != nil {
		return err
	}
	if r.Start != nil {
		if err := r.checkStartTable(); err != nil {
			return err
		}
	}
	if err := r.sh.Table.CheckPaths(slices.Values(r.Projection.Paths())); err != nil {
		return err
	}
	return r.sh.Table.CheckPaths(r.Filter.Paths())
}
