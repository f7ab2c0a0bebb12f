package api

import "github.com/evenkeel/evenkeel/dynamo/jsontext"

// DecodeResponse implements Request.
func (q *ExecuteStatement) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(StatementResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Items":
			out.Items = encodedItems(r)
		case "NextToken":
			out.NextToken = r.Text()
		case "LastEvaluatedKey":
			out.LastKey = d.attribute.ReadItem(r)
		case "ConsumedCapacity":
			out.Capacity = new(ConsumedCapacity)
			out.Capacity.read(r)
		default:
			r.Skip()
		}
	})
	if err == nil {
		err = out.LastKey.Validate()
	}
	return out, err
}

// DecodeResponse implements Request.
func (q *BatchExecuteStatement) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(BatchStatementResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Responses":
			array(r, func(r *jsontext.Reader) { out.Results = append(out.Results, readResult(r)) })
		case "ConsumedCapacity":
			out.Capacity = readCapacities(r)
		default:
			r.Skip()
		}
	})
	return out, err
}

func readResult(r *jsontext.Reader) (out StatementResult) {
	object(r, func(r *jsontext.Reader, name string) {
		switch name {
		case "TableName":
			out.Table = r.Text()
		case "Item":
			out.Item = encoded(r)
		case "Error":
			out.Error = new(StatementError)
			object(r, func(r *jsontext.Reader, name string) {
				switch name {
				case "Code":
					out.Error.Code = r.Text()
				case "Message":
					out.Error.Message = r.Text()
				case "Item":
					out.Error.Item = encoded(r)
				default:
					r.Skip()
				}
			})
		default:
			r.Skip()
		}
	})
	return out
}

// DecodeResponse implements Request.
func (q *ExecuteTransaction) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return (&TransactGetItems{Gets: make([]TransactGet, len(q.Statements))}).DecodeResponse(d, body)
}
