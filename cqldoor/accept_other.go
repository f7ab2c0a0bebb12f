//go:build !unix

package cqldoor

func isTooManyFiles(error) bool { return false }
