package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A frame of ClickHouse's own compression: a checksum of all that follows it, the
// method, the size of the rest with method and sizes, the size it unpacks to.
const (
	frameChecksum = 16
	frameSizes    = 9 // method and both sizes
	frameHeader   = frameChecksum + frameSizes
	frameLZ4      = 0x82
	frameZSTD     = 0x90
	frameNone     = 0x02
)

// leastWindow is what a ZSTD decoder must be able to remember to read what others
// write (RFC 8878 recommends 8 MB), however small the frame.
const leastWindow = 8 << 20

// unframer reads frames of ClickHouse's own compression (decompress=1). ch-go's
// reader does the same, but believes what a header claims before anything is
// there, and lets a ZSTD frame expand beyond it without limit.
type unframer struct {
	r    io.Reader
	most int    // bytes that a frame may unpack to
	left []byte // of the frame that is being read
	zstd *zstd.Decoder
}

func newUnframer(r io.Reader, most int) *unframer { return &unframer{r: r, most: most} }

// Read tells an end between two frames (io.EOF) from one within a frame
// (io.ErrUnexpectedEOF).
func (u *unframer) Read(p []byte) (int, error) {
	for len(u.left) == 0 {
		unpacked, err := u.next()
		if err != nil {
			return 0, err
		}
		u.left = unpacked
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

func (u *unframer) next() ([]byte, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(u.r, header[:]); err != nil {
		return nil, err
	}
	packed := int64(binary.LittleEndian.Uint32(header[frameChecksum+1:])) - frameSizes
	size := int64(binary.LittleEndian.Uint32(header[frameChecksum+5:]))
	if size > int64(u.most) || packed < 0 || packed > int64(u.most)+int64(u.most)/8+64 {
		return nil, fmt.Errorf("a compressed frame claims %d bytes, unpacked %d; up to %d are taken here", packed, size, u.most)
	}
	raw := make([]byte, frameSizes+packed)
	copy(raw, header[frameChecksum:])
	if _, err := io.ReadFull(u.r, raw[frameSizes:]); err != nil {
		return nil, cutShort(err)
	}
	sum := city.CH128(raw)
	if sum.Low != binary.LittleEndian.Uint64(header[:]) || sum.High != binary.LittleEndian.Uint64(header[8:]) {
		return nil, errors.New("a compressed frame is damaged: its checksum is another")
	}
	unpacked, err := u.unpack(raw[0], raw[frameSizes:], int(size))
	if err == nil && len(unpacked) != int(size) {
		err = fmt.Errorf("a compressed frame unpacks to %d bytes or more, its header says %d", len(unpacked), size)
	}
	return unpacked, err
}

func (u *unframer) unpack(method byte, packed []byte, size int) ([]byte, error) {
	switch method {
	case frameLZ4:
		out := make([]byte, size)
		n, err := lz4.UncompressBlock(packed, out)
		if err != nil {
			return nil, fmt.Errorf("unpack a frame of LZ4: %w", err)
		}
		return out[:n], nil
	case frameZSTD:
		if u.zstd == nil {
			decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(uint64(max(u.most, leastWindow))))
			if err != nil {
				return nil, err
			}
			u.zstd = decoder
		}
		if err := u.zstd.Reset(bytes.NewReader(packed)); err != nil {
			return nil, fmt.Errorf("unpack a frame of ZSTD: %w", err)
		}
		out := make([]byte, size+1) // one more would be too many
		n, err := io.ReadFull(u.zstd, out)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("unpack a frame of ZSTD: %w", err)
		}
		return out[:n], nil
	case frameNone:
		return packed, nil
	}
	return nil, fmt.Errorf("compression 0x%02x is not known here: use LZ4, ZSTD or none", method)
}

func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
