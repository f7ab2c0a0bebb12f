// SPDX-License-Identifier: Apache-2.0

package api

import "github.com/evenkeel/evenkeel/dynamo/jsontext"

// DecodeResponse implements Request.
func (q *ListStreams) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(StreamsResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Streams":
			out.Streams = objects(r, func(s *StreamSummary, r *jsontext.Reader, name string) {
				if !s.read(r, name) {
					r.Skip()
				}
			})
		case "LastEvaluatedStreamArn":
			out.Last = r.Text()
		default:
			r.Skip()
		}
	})
	return out, err
}

// read reads the member that r is at, if it is one of the members of a stream's summary, and
// reports whether it is.
func (s *StreamSummary) read(r *jsontext.Reader, name string) bool {
	switch name {
	case "StreamArn":
		s.ARN = r.Text()
	case "TableName":
		s.Table = r.Text()
	case "StreamLabel":
		s.Label = r.Text()
	default:
		return false
	}
	return true
}

// DecodeResponse implements Request.
func (q *DescribeStream) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(StreamResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		if name != "StreamDescription" {
			r.Skip()
			return
		}
		object(r, out.read)
	})
	return out, err
}

func (out *StreamResponse) read(r *jsontext.Reader, name string) {
	switch name {
	case "StreamStatus":
		out.Status = r.Text()
	case "StreamViewType":
		out.View = r.Text()
	case "CreationRequestDateTime":
		out.Created = readTime(r)
	case "KeySchema":
		out.Key = readKeySchema(r)
	case "Shards":
		out.Shards = objects(r, (*StreamShard).read)
	case "LastEvaluatedShardId":
		out.Last = r.Text()
	default:
		if !out.StreamSummary.read(r, name) {
			r.Skip()
		}
	}
}

func (s *StreamShard) read(r *jsontext.Reader, name string) {
	switch name {
	case "ShardId":
		s.ID = r.Text()
	case "ParentShardId":
		s.Parent = r.Text()
	case "SequenceNumberRange":
		object(r, s.read)
	case "StartingSequenceNumber":
		s.Starting = r.Text()
	case "EndingSequenceNumber":
		s.Ending = r.Text()
	default:
		r.Skip()
	}
}

// DecodeResponse implements Request.
func (q *GetShardIterator) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(IteratorResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		if name == "ShardIterator" {
			out.Iterator = r.Text()
		} else {
			r.Skip()
		}
	})
	return out, err
}

// DecodeResponse implements Request.
func (q *GetRecords) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(RecordsResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Records":
			out.Records = objects(r, (*StreamRecord).read)
		case "NextShardIterator":
			out.Next = r.Text()
		default:
			r.Skip()
		}
	})
	return out, err
}

func (s *StreamRecord) read(r *jsontext.Reader, name string) {
	switch name {
	case "eventID":
		s.ID = r.Text()
	case "eventName":
		s.Event = Event(r.Text())
	case "awsRegion":
		s.Region = r.Text()
	case "dynamodb":
		object(r, s.readChange)
	case "userIdentity":
		object(r, func(r *jsontext.Reader, name string) {
			if name == "Type" {
				s.Service = r.Text() == "Service"
			} else {
				r.Skip()
			}
		})
	default:
		r.Skip()
	}
}

func (s *StreamRecord) readChange(r *jsontext.Reader, name string) {
	switch name {
	case "ApproximateCreationDateTime":
		s.At = readTime(r)
	case "Keys":
		s.Keys = encoded(r)
	case "NewImage":
		s.New = encoded(r)
	case "OldImage":
		s.Old = encoded(r)
	case "SequenceNumber":
		s.Sequence = r.Text()
	case "SizeBytes":
		s.Size = int(integerOf(r))
	case "StreamViewType":
		s.View = r.Text()
	default:
		r.Skip()
	}
}
