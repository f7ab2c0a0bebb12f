// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cqldoor

func isTooManyFiles(error) bool { return false }
