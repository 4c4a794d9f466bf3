//go:build !long

package sinktest

// longWords are five bytes each: a text of more than one chunk of an encoder.
const longWords = 14_000
