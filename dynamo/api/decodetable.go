// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"errors"
	"math"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// Reading answers about tables. Callers keep them for long. So the decoder reads a copy of the
// body, and the answer shares no memory with the body.

var (
	errNoTable = errors.New("the answer describes no table")
	errNoKey   = errors.New("an index without a key")
)

// tableAnswer reads an answer that describes a table.
func (d *Decoder) tableAnswer(operation string, body []byte) (Response, error) {
	out := &TableResponse{Describe: operation == "DescribeTable"}
	err := d.answer(operation, bytes.Clone(body), func(r *jsontext.Reader, name string) {
		if name == "Table" || name == "TableDescription" {
			readTableDescription(r, out)
		} else {
			r.Skip()
		}
	})
	if err == nil && (out.Table == nil || len(out.Table.Key.Hash) == 0 && out.Table.Status != schema.Deleting) {
		err = errNoTable
	}
	return out, err
}

// DecodeResponse implements Answered.
func (q *CreateTable) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.tableAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *UpdateTable) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.tableAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *DeleteTable) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.tableAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *DescribeTable) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.tableAnswer(q.Operation(), body)
}

func readTableDescription(r *jsontext.Reader, out *TableResponse) {
	t := &schema.Table{Billing: schema.Provisioned}
	out.Table, out.Size = t, TableSize{}
	object(r, func(r *jsontext.Reader, name string) {
		switch name {
		case "TableName":
			t.Name = r.Text()
		case "TableStatus":
			t.Status = schema.Status(r.Text())
		case "TableArn":
			t.ARN = r.Text()
		case "TableId":
			t.ID = r.Text()
		case "CreationDateTime":
			t.Created = readTime(r)
		case "AttributeDefinitions":
			t.Definitions = readDefinitions(r)
		case "KeySchema":
			t.Key = readKeySchema(r)
		case "ProvisionedThroughput":
			readProvisioned(r, t)
		case "BillingModeSummary":
			object(r, func(r *jsontext.Reader, name string) {
				switch name {
				case "BillingMode":
					t.Billing = schema.BillingMode(r.Text())
				case "LastUpdateToPayPerRequestDateTime":
					t.BillingChanged = readTime(r)
				default:
					r.Skip()
				}
			})
		case "OnDemandThroughput":
			t.OnDemand = readUnitPair(r)
		case "WarmThroughput":
			t.Warm = readUnitPair(r)
		case "TableSizeBytes":
			out.Size.Bytes = integerOf(r)
		case "ItemCount":
			out.Size.Items = integerOf(r)
		case "LocalSecondaryIndexes":
			t.Local = readIndexes(r, &out.Size)
		case "GlobalSecondaryIndexes":
			t.Global = readIndexes(r, &out.Size)
		case "LatestStreamLabel":
			t.StreamLabel = r.Text()
		case "DeletionProtectionEnabled":
			t.DeletionProtection = r.Bool()
		default:
			readSpecification(r, name, t)
		}
	})
}

// readSpecification reads the members that are objects with one or two members.
func readSpecification(r *jsontext.Reader, name string, t *schema.Table) {
	if r.Peek() != jsontext.Object {
		r.Skip()
		return
	}
	object(r, func(r *jsontext.Reader, member string) {
		switch name + "." + member {
		case "StreamSpecification.StreamEnabled":
			t.Stream.Enabled = r.Bool()
		case "StreamSpecification.StreamViewType":
			t.Stream.View = r.Text()
		case "SSEDescription.Status":
			status := r.Text()
			t.Encryption.Enabled = status == "ENABLED" || status == "ENABLING" || status == "UPDATING"
		case "SSEDescription.SSEType":
			t.Encryption.Type = r.Text()
		case "SSEDescription.KMSMasterKeyArn":
			t.Encryption.KeyID = r.Text()
		case "TableClassSummary.TableClass":
			t.Class = r.Text()
		default:
			r.Skip()
		}
	})
}

func readTime(r *jsontext.Reader) time.Time {
	return time.UnixMilli(int64(math.Round(float(r) * 1000)))
}

func readDefinitions(r *jsontext.Reader) []schema.Definition {
	return objects(r, func(d *schema.Definition, r *jsontext.Reader, name string) {
		switch name {
		case "AttributeName":
			d.Name = r.Text()
		case "AttributeType":
			d.Type, _ = attribute.KindOf(r.Text())
		default:
			r.Skip()
		}
	})
}

func readKeySchema(r *jsontext.Reader) (k schema.Key) {
	array(r, func(r *jsontext.Reader) {
		name, kind := "", ""
		object(r, func(r *jsontext.Reader, member string) {
			switch member {
			case "AttributeName":
				name = r.Text()
			case "KeyType":
				kind = r.Text()
			default:
				r.Skip()
			}
		})
		if kind == "RANGE" {
			k.Range = append(k.Range, name)
		} else {
			k.Hash = append(k.Hash, name)
		}
	})
	return k
}

func readProvisioned(r *jsontext.Reader, t *schema.Table) {
	object(r, func(r *jsontext.Reader, name string) {
		switch name {
		case "ReadCapacityUnits":
			t.Provisioned.Read = integerOf(r)
		case "WriteCapacityUnits":
			t.Provisioned.Write = integerOf(r)
		case "NumberOfDecreasesToday":
			t.Decreases = integerOf(r)
		case "LastIncreaseDateTime":
			t.ProvisionedRaised = readTime(r)
		case "LastDecreaseDateTime":
			t.ProvisionedLowered = readTime(r)
		default:
			r.Skip()
		}
	})
}

// readUnitPair reads a throughput. The names of its members contain Read and Write.
func readUnitPair(r *jsontext.Reader) (t schema.Throughput) {
	object(r, func(r *jsontext.Reader, name string) {
		switch name {
		case "ReadCapacityUnits", "MaxReadRequestUnits", "ReadUnitsPerSecond":
			t.Read = integerOf(r)
		case "WriteCapacityUnits", "MaxWriteRequestUnits", "WriteUnitsPerSecond":
			t.Write = integerOf(r)
		default:
			r.Skip()
		}
	})
	return t
}

func readIndexes(r *jsontext.Reader, size *TableSize) (all []schema.Index) {
	array(r, func(r *jsontext.Reader) {
		var ix schema.Index
		var n TableSize
		object(r, func(r *jsontext.Reader, name string) {
			switch name {
			case "IndexName":
				ix.Name = r.Text()
			case "IndexArn":
				ix.ARN = r.Text()
			case "IndexStatus":
				ix.Status = schema.Status(r.Text())
			case "Backfilling":
				ix.Backfilling = r.Bool()
			case "KeySchema":
				ix.Key = readKeySchema(r)
			case "Projection":
				object(r, func(r *jsontext.Reader, name string) {
					switch name {
					case "ProjectionType":
						ix.Projection.Type = schema.ProjectionType(r.Text())
					case "NonKeyAttributes":
						array(r, func(r *jsontext.Reader) { ix.Projection.NonKey = append(ix.Projection.NonKey, r.Text()) })
					default:
						r.Skip()
					}
				})
			case "IndexSizeBytes":
				n.Bytes = integerOf(r)
			case "ItemCount":
				n.Items = integerOf(r)
			case "ProvisionedThroughput":
				ix.Provisioned = readUnitPair(r)
			case "OnDemandThroughput":
				ix.OnDemand = readUnitPair(r)
			case "WarmThroughput":
				ix.Warm = readUnitPair(r)
			default:
				r.Skip()
			}
		})
		if len(ix.Key.Hash) == 0 {
			r.Fail(errNoKey)
			return
		}
		if size.Indexes == nil {
			size.Indexes = make(map[string]TableSize)
		}
		size.Indexes[ix.Name] = n
		all = append(all, ix)
	})
	return all
}

// DecodeResponse implements Answered.
func (q *ListTables) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := &TablesResponse{Names: []string{}}
	err := d.answer(q.Operation(), bytes.Clone(body), func(r *jsontext.Reader, name string) {
		switch name {
		case "TableNames":
			array(r, func(r *jsontext.Reader) { out.Names = append(out.Names, r.Text()) })
		case "LastEvaluatedTableName":
			out.Last = r.Text()
		default:
			r.Skip()
		}
	})
	return out, err
}

// DecodeResponse implements Answered.
func (q *TagResource) DecodeResponse(_ *Decoder, body []byte) (Response, error) {
	return emptyAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *UntagResource) DecodeResponse(_ *Decoder, body []byte) (Response, error) {
	return emptyAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *ListTagsOfResource) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(TagsResponse)
	err := d.answer(q.Operation(), bytes.Clone(body), func(r *jsontext.Reader, name string) {
		switch name {
		case "Tags":
			out.Tags = objects(r, func(tag *schema.Tag, r *jsontext.Reader, name string) {
				switch name {
				case "Key":
					tag.Key = r.Text()
				case "Value":
					tag.Value = r.Text()
				default:
					r.Skip()
				}
			})
		case "NextToken":
			out.Next = r.Text()
		default:
			r.Skip()
		}
	})
	return out, err
}

// DecodeResponse implements Answered.
func (q *UpdateTimeToLive) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.timeToLiveAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *DescribeTimeToLive) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.timeToLiveAnswer(q.Operation(), body)
}

func (d *Decoder) timeToLiveAnswer(operation string, body []byte) (Response, error) {
	out := new(TimeToLiveResponse)
	err := d.answer(operation, bytes.Clone(body), func(r *jsontext.Reader, name string) {
		if name != "TimeToLiveSpecification" && name != "TimeToLiveDescription" {
			r.Skip()
			return
		}
		out.Updated = name == "TimeToLiveSpecification"
		object(r, func(r *jsontext.Reader, name string) {
			switch name {
			case "AttributeName":
				out.TimeToLive.Attribute = r.Text()
			case "Enabled":
				out.TimeToLive.Enabled = r.Bool()
			case "TimeToLiveStatus":
				status := r.Text()
				out.TimeToLive.Enabled = status == "ENABLED" || status == "ENABLING"
			default:
				r.Skip()
			}
		})
	})
	return out, err
}

// DecodeResponse implements Answered.
func (q *DescribeLimits) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(LimitsResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		to := map[string]*int64{
			"AccountMaxReadCapacityUnits": &out.AccountRead, "AccountMaxWriteCapacityUnits": &out.AccountWrite,
			"TableMaxReadCapacityUnits": &out.TableRead, "TableMaxWriteCapacityUnits": &out.TableWrite,
		}[name]
		if to == nil {
			r.Skip()
			return
		}
		*to = integerOf(r)
	})
	return out, err
}

// DecodeResponse implements Answered.
func (q *DescribeEndpoints) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(EndpointsResponse)
	err := d.answer(q.Operation(), bytes.Clone(body), func(r *jsontext.Reader, name string) {
		if name != "Endpoints" {
			r.Skip()
			return
		}
		array(r, func(r *jsontext.Reader) {
			object(r, func(r *jsontext.Reader, name string) {
				if name == "Address" {
					out.Address = r.Text()
				} else {
					r.Skip()
				}
			})
		})
	})
	return out, err
}
