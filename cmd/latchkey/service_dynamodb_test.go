package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
)

// what AWS refuses is said with its cause and cure, and its code comes last.
func TestAmazonRefusals(t *testing.T) {
	for code, want := range map[string]string{
		"UnrecognizedClientException": unknownKeys, "ExpiredTokenException": expiredKeys, "ThrottlingException": tooManyRequests,
		"InternalServerError": amazonDown, "SomethingNewException": refusedByAmazon,
	} {
		err := fmt.Errorf("dynamodb: %w", &smithy.GenericAPIError{Code: code, Message: "quoted"})
		if got := explainAmazon(err); got != want+" (AWS calls it "+code+")" || strings.Contains(got, "quoted") {
			t.Errorf("R-677 %s: %q", code, got)
		}
	}
	if got := explainAmazon(&smithy.OperationError{Err: errors.New("no region")}); got != noCredentials {
		t.Errorf("R-677 no answer: %q", got)
	}
}
