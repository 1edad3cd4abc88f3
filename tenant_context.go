package latchkey

import "context"

// tenantKey is where ContextWithTenant leaves the name in a context.
type tenantKey struct{}

// ContextWithTenant returns a context for work on one tenant of a site made with
// [NewTenants], such as a nightly job. The tenant of the context wins over the one that
// Tenants.Name returns. An empty name says that there is no such tenant. Work on a tenant
// that does not exist is ErrInvalidConfig.
func ContextWithTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

// tenantIn returns the tenant that ctx names, or "".
func tenantIn(ctx context.Context) string {
	named, _ := ctx.Value(tenantKey{}).(string)
	return named
}

// in returns ctx for work of the tenant, so that callbacks can use
// [Auth.Users].
func (s *setup) in(ctx context.Context) context.Context {
	if s.tenant == "" || tenantIn(ctx) == s.tenant {
		return ctx
	}
	return ContextWithTenant(ctx, s.tenant)
}
