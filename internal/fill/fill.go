// Package fill completes a partly filled struct from one that holds defaults. It is the
// only merge in Latchkey. Default does the same for one field. Override lets the given
// value win.
package fill

import (
	"reflect"
	"slices"
)

// From sets every zero field of *dst to the field of defaults, looking inside nested
// structs and adding the keys that maps of dst lack. What dst has, it keeps. Maps and
// slices of either argument are copied before they are shared or changed; what pointers
// lead to is shared. Unexported fields are left alone.
func From[T any](dst *T, defaults T) {
	fill(reflect.ValueOf(dst).Elem(), reflect.ValueOf(defaults))
}

// fill sets the zero parts of dst to those of def. It leaves a value alone that cannot
// be set.
func fill(dst, def reflect.Value) {
	switch {
	case !dst.CanSet():
	case isOpen(dst.Type()):
		for i := range dst.NumField() {
			fill(dst.Field(i), def.Field(i))
		}
	case dst.IsZero():
		dst.Set(clone(def))
	case dst.Kind() == reflect.Map:
		merged := clone(def)
		if merged.IsNil() {
			return
		}
		for k, v := range dst.Seq2() {
			merged.SetMapIndex(k, v)
		}
		dst.Set(merged)
	}
}

// isOpen reports whether t is a struct with exported fields. A struct without any, such
// as a time, counts as one value.
func isOpen(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.IsExported() })
}

// clone returns a copy of a map or a slice, and v itself for any other kind. It also
// clones the values of a map, but not the elements of a slice.
func clone(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for k, e := range v.Seq2() {
			c.SetMapIndex(k, clone(e))
		}
		return c
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
	}
	return v
}
