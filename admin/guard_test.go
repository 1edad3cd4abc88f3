package admin

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowApplicationRefuses: P-052, a function of the application that hangs, panics or
// ends its goroutine refuses, after five seconds at the latest.
func TestSlowApplicationRefuses(t *testing.T) {
	for name, f := range map[string]func(context.Context) (bool, error){
		"P-052 it hangs":              func(context.Context) (bool, error) { time.Sleep(time.Hour); return true, nil },
		"P-052 it panics":             func(context.Context) (bool, error) { panic("no database") },
		"P-052 it ends its goroutine": func(context.Context) (bool, error) { runtime.Goexit(); return true, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				yes, err := bounded(t.Context(), f)
				if took := time.Since(began); yes || err == nil || took > patience {
					t.Errorf("%v, %v, after %v", yes, err, took)
				}
				time.Sleep(time.Hour) // the function returns
			})
		})
	}
	if _, err := bounded(t.Context(), func(context.Context) (bool, error) { return true, errSlow }); !errors.Is(err, errSlow) {
		t.Errorf("P-052 %v", err)
	}
}
