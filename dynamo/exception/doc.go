// SPDX-License-Identifier: Apache-2.0

// Package exception is the errors of the DynamoDB API: their names on the wire,
// their HTTP statuses and their bodies.
//
// Every error that a client of the DynamoDB door sees is an *Error of a Kind of
// the closed set here; what is none of them is a fault of the program and goes
// out as InternalServerError. The texts are AWS's where AWS has one.
//
// It does no I/O and imports only dynamo/jsontext.
package exception
