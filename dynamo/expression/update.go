package expression

import "github.com/evenkeel/evenkeel/dynamo/attribute"

// Update is an UpdateExpression. A nil *Update changes nothing.
type Update struct {
	set, remove, add, del []action
}

type action struct {
	path Path
}

// Apply returns the item as the update leaves it. item is unchanged; nil is an
// item that does not exist, of which the caller gives the key. The result may be
// too large, or have keys of wrong types: schema.Table says.
func (u *Update) Apply(item attribute.Item) (attribute.Item, error) { return item, nil }

// Changes are the paths that the update names: applied to the item before and
// after, they give UPDATED_OLD and UPDATED_NEW.
func (u *Update) Changes() *Projection { return nil }

// Attributes appends the names of the top-level attributes that the update changes.
func (u *Update) Attributes(dst []string) []string { return dst }
