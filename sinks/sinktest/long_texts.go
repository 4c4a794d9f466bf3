//go:build long

package sinktest

// longWords are five bytes each: a text of two chunks of an encoder.
const longWords = 30_000
