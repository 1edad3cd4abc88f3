package latchkeytest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Major types of CBOR (RFC 8949, section 3.1).
const (
	cborUnsigned = iota << 5
	cborNegative
	cborBytes
	cborText
	cborArray
	cborMap
)

// encodeCBOR encodes the types that WebAuthn needs, in the one form that CTAP 2.1,
// section 8, allows: numbers and lengths as short as possible, keys of maps in order. It
// returns an error for any other type.
func encodeCBOR(value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return []byte{0xf6}, nil
	case bool:
		if v {
			return []byte{0xf5}, nil
		}
		return []byte{0xf4}, nil
	case int:
		if v < 0 {
			return cborHead(cborNegative, -(v + 1)), nil
		}
		return cborHead(cborUnsigned, v), nil
	case []byte:
		return append(cborHead(cborBytes, len(v)), v...), nil
	case string:
		return append(cborHead(cborText, len(v)), v...), nil
	case []any:
		return encodeCBORArray(v)
	case map[string]any:
		return encodeCBORMap(v)
	case map[int]any:
		return encodeCBORMap(v)
	}
	return nil, fmt.Errorf("latchkeytest: CBOR of a %T is not supported", value)
}

// cborHead returns the initial byte of an item with the number that belongs to it. n must
// not be negative.
func cborHead(major byte, n int) []byte {
	switch {
	case n < 24:
		return []byte{major | byte(n)}
	case n < 1<<8:
		return []byte{major | 24, byte(n)}
	case n < 1<<16:
		return binary.BigEndian.AppendUint16([]byte{major | 25}, uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32([]byte{major | 26}, uint32(n))
	}
	return binary.BigEndian.AppendUint64([]byte{major | 27}, uint64(n))
}

func encodeCBORArray(list []any) ([]byte, error) {
	out := cborHead(cborArray, len(list))
	for _, value := range list {
		item, err := encodeCBOR(value)
		if err != nil {
			return nil, err
		}
		out = append(out, item...)
	}
	return out, nil
}

// encodeCBORMap encodes a map with its keys in the order of their encodings.
func encodeCBORMap[K int | string](members map[K]any) ([]byte, error) {
	encoded := map[string][]byte{}
	for key, value := range members {
		name, err := encodeCBOR(key)
		if err != nil {
			return nil, err
		}
		if encoded[string(name)], err = encodeCBOR(value); err != nil {
			return nil, err
		}
	}
	out := bytes.NewBuffer(cborHead(cborMap, len(members)))
	for _, name := range slices.Sorted(maps.Keys(encoded)) {
		out.WriteString(name)
		out.Write(encoded[name])
	}
	return out.Bytes(), nil
}
