// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"encoding/json"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// ExplainPayload is a key in custom payloads. In a PREPARE, it asks for the statement's plan. In the
// answer, its value is an Explanation as JSON. A PREPARE executes nothing, whether the door or the store
// handles it. An answer without the payload says that the door forwards the statement unchanged, and that no
// shard rule applies to its table.
const ExplainPayload = "evenkeel.explain"

// Explanation is the plan of a statement, with the shard rules for its table. For a statement on a plain
// table, there is no layout and no plan.
type Explanation struct {
	*plan.Explained
	Rule *RuleShown `json:"rule,omitempty"`
}

// AsksExplain reports whether a request's custom payload asks for the plan.
func AsksExplain(m wire.Message) bool {
	p, _, err := wire.SplitPrefix(m.Op, m.Flags, m.Body)
	if err != nil || p.Payload == nil {
		return false
	}
	c := wire.NewCursor(p.Payload)
	_, ok := c.BytesMap()[ExplainPayload]
	return ok && c.Err() == nil
}

// reply answers a PREPARE with an explanation and the body of a RESULT.
func (e *Explanation) reply(req *cqldoor.Request, result []byte) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	body := wire.AppendBytesMap(nil, map[string][]byte{ExplainPayload: text})
	req.Reply(wire.Message{Op: wire.OpResult, Flags: wire.FlagCustomPayload, Body: append(body, result...)})
	return nil
}
