// SPDX-License-Identifier: Apache-2.0

// Package exception holds the errors of the DynamoDB API: their names on the wire, their HTTP
// statuses and their bodies.
//
// Every error that a client of the DynamoDB door sees is an *Error, and its Kind is one of the
// closed set here. Any other error is a fault of the program; the client sees InternalServerError.
// The messages are AWS's if AWS has one.
//
// It does no I/O and imports only dynamo/jsontext.
package exception
