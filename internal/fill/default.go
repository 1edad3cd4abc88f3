package fill

// Default sets *field to value if it is zero.
func Default[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Override sets *field to value unless value is zero.
func Override[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}
