package webauthn

import (
	"crypto/ed25519"
	"errors"
	"math/big"
	"slices"
)

// The field and the curve of Ed25519: y² - x² = 1 + dx²y² (RFC 8032, section
// 5.1).
var (
	edP = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	edD = edFraction(big.NewInt(-121665), big.NewInt(121666))
)

var errEdwards = errors.New("the Ed25519 key is no point of its curve, or one of small order")

// checkEd25519 refuses keys that are no point of the curve in its one encoding, and
// the eight points of small order: a signature by one of those is right for many
// messages, or for all.
func checkEd25519(key []byte) error {
	if len(key) != ed25519.PublicKeySize {
		return errEdwards
	}
	encoded := slices.Clone(key)
	slices.Reverse(encoded)
	encoded[0] &= 0x7f // the sign of x
	y := new(big.Int).SetBytes(encoded)
	if y.Cmp(edP) >= 0 {
		return errEdwards
	}
	yy := edMul(y, y)
	above := new(big.Int).Sub(yy, big.NewInt(1))
	below := new(big.Int).Add(edMul(edD, yy), big.NewInt(1))
	xx := edFraction(above, below)
	if new(big.Int).ModSqrt(xx, edP) == nil || isSmallOrder(xx, yy) {
		return errEdwards
	}
	return nil
}

// isSmallOrder reports whether three doublings of a point end at the neutral point. xx
// and yy are the squares of its coordinates. Points of order 1, 2 and 4 have a coordinate
// that is zero. Points of order 8 have x² = -y²: doubling makes them one of order 4 with
// a y of zero.
func isSmallOrder(xx, yy *big.Int) bool {
	sum := new(big.Int).Add(xx, yy)
	return xx.Sign() == 0 || yy.Sign() == 0 || sum.Mod(sum, edP).Sign() == 0
}

// edMul returns the product in the field of the curve.
func edMul(a, b *big.Int) *big.Int {
	product := new(big.Int).Mul(a, b)
	return product.Mod(product, edP)
}

// edFraction returns above/below in the field. below must not be zero. 1 + dy² never is,
// since -1/d is no square.
func edFraction(above, below *big.Int) *big.Int {
	inverse := new(big.Int).ModInverse(new(big.Int).Mod(below, edP), edP)
	return edMul(new(big.Int).Mod(above, edP), inverse)
}
