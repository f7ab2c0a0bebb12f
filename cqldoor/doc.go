package cqldoor
