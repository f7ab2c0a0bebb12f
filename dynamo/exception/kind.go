// SPDX-License-Identifier: Apache-2.0

package exception

// Kind is the kind of an error.
type Kind uint8

// The kinds, named as in the API, without the ending "Exception".
const (
	InternalServerError Kind = iota // the zero Kind: an error that nobody foresaw
	Serialization
	Validation
	UnknownOperation
	MissingAuthenticationToken
	IncompleteSignature
	InvalidSignature
	UnrecognizedClient
	ExpiredToken
	AccessDenied
	ConditionalCheckFailed
	ResourceNotFound
	ResourceInUse
	LimitExceeded
	ProvisionedThroughputExceeded
	RequestLimitExceeded
	Throttling
	ItemCollectionSizeLimitExceeded
	TransactionCanceled
	TransactionConflict
	TransactionInProgress
	IdempotentParameterMismatch
	DuplicateItem
	ExpiredIterator   // of a stream
	TrimmedDataAccess // of a stream
	ServiceUnavailable
	kinds
)

// Namespaces of the type names.
const (
	dynamodb     = "com.amazonaws.dynamodb.v20120810#"
	coral        = "com.amazon.coral.service#"
	validate     = "com.amazon.coral.validate#"
	availability = "com.amazon.coral.availability#"
)

var table = [kinds]struct {
	space, name string
	status      int
}{
	InternalServerError:             {dynamodb, "InternalServerError", 500},
	Serialization:                   {coral, "SerializationException", 400},
	Validation:                      {validate, "ValidationException", 400},
	UnknownOperation:                {coral, "UnknownOperationException", 400},
	MissingAuthenticationToken:      {coral, "MissingAuthenticationTokenException", 400},
	IncompleteSignature:             {coral, "IncompleteSignatureException", 400},
	InvalidSignature:                {coral, "InvalidSignatureException", 400},
	UnrecognizedClient:              {coral, "UnrecognizedClientException", 400},
	ExpiredToken:                    {coral, "ExpiredTokenException", 400},
	AccessDenied:                    {coral, "AccessDeniedException", 400},
	ConditionalCheckFailed:          {dynamodb, "ConditionalCheckFailedException", 400},
	ResourceNotFound:                {dynamodb, "ResourceNotFoundException", 400},
	ResourceInUse:                   {dynamodb, "ResourceInUseException", 400},
	LimitExceeded:                   {dynamodb, "LimitExceededException", 400},
	ProvisionedThroughputExceeded:   {dynamodb, "ProvisionedThroughputExceededException", 400},
	RequestLimitExceeded:            {dynamodb, "RequestLimitExceeded", 400},
	Throttling:                      {availability, "ThrottlingException", 400},
	ItemCollectionSizeLimitExceeded: {dynamodb, "ItemCollectionSizeLimitExceededException", 400},
	TransactionCanceled:             {dynamodb, "TransactionCanceledException", 400},
	TransactionConflict:             {dynamodb, "TransactionConflictException", 400},
	TransactionInProgress:           {dynamodb, "TransactionInProgressException", 400},
	IdempotentParameterMismatch:     {dynamodb, "IdempotentParameterMismatchException", 400},
	DuplicateItem:                   {dynamodb, "DuplicateItemException", 400},
	ExpiredIterator:                 {dynamodb, "ExpiredIteratorException", 400},
	TrimmedDataAccess:               {dynamodb, "TrimmedDataAccessException", 400},
	ServiceUnavailable:              {coral, "ServiceUnavailableException", 503},
}

// Name returns the error's name in SDKs, such as ValidationException.
func (k Kind) Name() string { return table[k].name }

// Type returns the error's __type on the wire: its namespace, # and its name.
func (k Kind) Type() string { return table[k].space + table[k].name }

// Status returns the HTTP status of the error.
func (k Kind) Status() int { return table[k].status }

func (k Kind) String() string { return k.Name() }

// ByName returns the kind with a name or __type, for reading another endpoint's errors. For an
// unknown name it returns InternalServerError and false.
func ByName(name string) (Kind, bool) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '#' {
			name = name[i+1:]
			break
		}
	}
	for k := range kinds {
		if table[k].name == name {
			return k, true
		}
	}
	return InternalServerError, false
}
