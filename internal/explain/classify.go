package explain

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/storage"
)

// DetailOf returns the detail of a failure. If err names none, DetailOf finds it by what
// failed (a callback, a provider, a store), or else by the type of err. It is never
// empty.
func DetailOf(err error) fault.Detail {
	return cmp.Or(failure.DetailOf(err), ofPanic(err), ofProvider(err), ofStore(err), ofType(err))
}

// ofPanic returns the detail of a function that panicked or was too slow, or "" for
// another err.
func ofPanic(err error) fault.Detail {
	if _, panicked := errors.AsType[*guarded.Panic](err); panicked {
		return fault.CallbackPanic
	}
	if _, slow := errors.AsType[*guarded.TooSlow](err); slow {
		return fault.CallbackSlow
	}
	return ""
}

// ofProvider returns the detail of a step that failed at a provider. It returns "" for any
// other err, and for most failures at StepLogout, which has no detail of its own.
func ofProvider(err error) fault.Detail {
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok {
		return ofAnswer(said)
	}
	failed, ok := errors.AsType[*oauth.StepError](err)
	if !ok {
		return ""
	}
	check := oauth.CheckOf(err)
	switch {
	case check == oauth.CheckTLS:
		return fault.TLSUntrusted
	case check == oauth.CheckSignature:
		return fault.KeysUnknown
	case failed.Step == oauth.StepIDToken:
		return ofIDToken(err, check)
	}
	away := failed.Status >= 500 || check == oauth.CheckTransport || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	ways := map[oauth.Step][2]fault.Detail{
		oauth.StepDiscovery:     {fault.DiscoveryUnreachable, fault.DiscoveryUnusable},
		oauth.StepKeys:          {fault.KeysUnreachable, fault.KeysUnreachable},
		oauth.StepAuthorization: {fault.AuthorizationInvalid, fault.AuthorizationInvalid},
		oauth.StepToken:         {fault.TokenUnreachable, fault.TokenUnusable},
		oauth.StepUserInfo:      {fault.UserInfoUnreachable, fault.UserInfoRefused},
		oauth.StepRevocation:    {fault.TokenUnreachable, fault.TokenUnusable},
	}[failed.Step]
	switch {
	case away:
		return ways[0]
	case check == oauth.CheckIssuer && failed.Step == oauth.StepDiscovery:
		return fault.DiscoveryIssuer
	}
	return ways[1]
}

// ofAnswer returns the detail of an error that a provider states.
func ofAnswer(said *oauth.ResponseError) fault.Detail {
	switch {
	case said.Step == oauth.StepAuthorization && said.Code == "access_denied":
		return fault.ProviderCancelled
	case said.Step == oauth.StepAuthorization:
		return fault.ProviderRefused
	case said.Step == oauth.StepUserInfo:
		return fault.UserInfoRefused
	}
	switch said.Code {
	case "invalid_client", "incorrect_client_credentials", "unauthorized_client":
		return fault.TokenInvalidClient
	case "redirect_uri_mismatch", "invalid_redirect_uri":
		return fault.TokenRedirectMismatch
	case "invalid_grant", "bad_verification_code":
		return fault.TokenInvalidGrant
	}
	return fault.TokenRefused
}

// ofIDToken returns the detail of an ID token that failed a check.
func ofIDToken(err error, check oauth.Check) fault.Detail {
	switch check {
	case oauth.CheckEarly:
		return fault.IDTokenEarly
	case oauth.CheckExpired:
		return fault.IDTokenExpired
	case oauth.CheckAudience:
		return fault.IDTokenAudience
	case oauth.CheckIssuer:
		return fault.IDTokenIssuer
	case oauth.CheckNonce:
		return fault.IDTokenNonce
	}
	if errors.Is(err, oauth.ErrUnmet) {
		return fault.IDTokenDemand
	}
	return fault.IDTokenInvalid
}

// ofStore returns the detail of an err that is fault.ErrAdapter, the failure of a store. Such
// an err that is context.Canceled too, and has no schema at fault and no passed deadline, is
// RequestCanceled: the client went away. Of all other errors, ofStore returns RequestCanceled
// for those that are context.Canceled, and "" for the rest.
func ofStore(err error) fault.Detail {
	switch {
	case !errors.Is(err, fault.ErrAdapter):
		if errors.Is(err, context.Canceled) {
			return fault.RequestCanceled
		}
		return ""
	case errors.Is(err, storage.ErrSchema):
		return fault.StoreSchema
	case errors.Is(err, context.DeadlineExceeded):
		return fault.StoreSlow
	case errors.Is(err, context.Canceled):
		return fault.RequestCanceled
	case guarded.IsOutage(err):
		return fault.StoreAway
	}
	return fault.StoreFailed
}

// ofType returns the detail of a failure of which only the type is known, or fault.Other
// if the type has none.
func ofType(err error) fault.Detail {
	return cmp.Or(byType[failure.TypeOf(err)], fault.Other)
}

// byType has the detail that a type means when nothing names another one.
var byType = map[fault.ErrorType]fault.Detail{
	fault.ErrAccessDenied:                fault.SignInDenied,
	fault.ErrAccountNotLinked:            fault.AccountTaken,
	fault.ErrAdapter:                     fault.StoreFailed,
	fault.ErrAudit:                       fault.AuditStore,
	fault.ErrCallbackRoute:               fault.CallbackFailed,
	fault.ErrCredentialsSignin:           fault.SignInWrong,
	fault.ErrDuplicateConditionalUI:      fault.PasskeyForm,
	fault.ErrEmailSignIn:                 fault.MailFailed,
	fault.ErrErrorPageLoop:               fault.PagesLoop,
	fault.ErrEvent:                       fault.EventFailed,
	fault.ErrInvalidCallbackURL:          fault.CallbackURLInvalid,
	fault.ErrInvalidCheck:                fault.StateMissing,
	fault.ErrInvalidEndpoints:            fault.ConfigEndpoints,
	fault.ErrInvalidProvider:             fault.ConfigProvider,
	fault.ErrJWTSession:                  fault.SessionInvalid,
	fault.ErrMissingAdapter:              fault.ConfigAdapter,
	fault.ErrMissingAdapterMethods:       fault.ConfigAbility,
	fault.ErrMissingAuthorize:            fault.ConfigProvider,
	fault.ErrMissingCSRF:                 fault.CSRFMissing,
	fault.ErrMissingSecret:               fault.ConfigSecret,
	fault.ErrMissingWebAuthnAutocomplete: fault.PasskeyForm,
	fault.ErrOAuthAccountNotLinked:       fault.AccountTaken,
	fault.ErrOAuthCallback:               fault.ProviderRefused,
	fault.ErrOAuthProfileParse:           fault.ProfileParse,
	fault.ErrOAuthSignIn:                 fault.AuthorizationFailed,
	fault.ErrFactor:                      fault.FactorFailed,
	fault.ErrSecondFactor:                fault.FactorWrong,
	fault.ErrPassword:                    fault.PasswordRefused,
	fault.ErrSessionToken:                fault.SessionFailed,
	fault.ErrSignOut:                     fault.SessionNotEnded,
	fault.ErrUnknownAction:               fault.RequestUnknown,
	fault.ErrUnsupportedStrategy:         fault.ConfigStrategy,
	fault.ErrUntrustedHost:               fault.HostUntrusted,
	fault.ErrVerification:                fault.LinkUsed,
	fault.ErrWebAuthnVerification:        fault.PasskeyInvalid,
	fault.ErrReconnect:                   fault.GrantReconnect,
	fault.ErrScopeMissing:                fault.GrantScope,
	fault.ErrRefresh:                     fault.GrantRefresh,
	fault.ErrTokenKey:                    fault.GrantKey,
	fault.ErrInvalidConfig:               fault.ConfigInvalid,
}
