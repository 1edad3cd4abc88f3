package latchkey

import "reflect"

// What the configured features ask of the adapter, checked once.

// checkAbilities finds out what the adapter lacks, and who misses it.
func (s *setup) checkAbilities(f *faults) {
	needs := func(able bool, ability, who string) {
		if s.Adapter != nil && !able {
			f.add(ErrMissingAdapterMethods, "%s needs an Adapter that is a %s; %T is not", who, ability, s.Adapter)
		}
	}
	if s.Session.Strategy == DatabaseSessions {
		if s.Adapter == nil {
			f.add(ErrMissingAdapter, "Session.Strategy %q needs an Adapter", DatabaseSessions)
		}
		_, ok := s.Adapter.(SessionAdapter)
		needs(ok, "SessionAdapter", "Session.Strategy "+string(DatabaseSessions))
	}
	credentials := 0
	for _, p := range s.order {
		switch p.info().kind {
		case TypeEmail:
			if s.Adapter == nil {
				f.add(ErrMissingAdapter, "the e-mail provider %q needs an Adapter", p.info().id)
			}
			_, ok := s.Adapter.(VerificationTokenAdapter)
			needs(ok, "VerificationTokenAdapter", "the e-mail provider "+p.info().id)
		case TypeCredentials:
			credentials++
		}
	}
	if s.Session.Strategy == DatabaseSessions && credentials > 0 && credentials == len(s.order) {
		f.add(ErrUnsupportedStrategy, "signing in with credentials alone needs Session.Strategy %q", JWTSessions)
	}
	s.warnOfLesserStores()
	if s.Account.Enabled {
		_, ok := s.Adapter.(AccountAdapter)
		needs(ok, "AccountAdapter", "Account.Enabled")
		if s.Adapter == nil {
			f.add(ErrMissingAdapter, "Account.Enabled needs an Adapter")
		}
	}
}

// sameStore compares two stores, which may be of types that cannot be compared.
func sameStore(a, b RevocationStore) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Type() == y.Type() && x.Comparable() && x.Equal(y)
}

// warnOfLesserStores says which defence an adapter is too small for.
func (s *setup) warnOfLesserStores() {
	if s.Adapter == nil {
		return
	}
	_, transactions := s.Adapter.(TxAdapter)
	_, intents := s.Adapter.(SignUpAdapter)
	if !transactions && !intents {
		s.log.warn("the Adapter is neither a TxAdapter nor a SignUpAdapter: a sign-up that is cut short has to be cleaned up by hand")
	}
	if _, ok := s.Adapter.(AccountAdapter); ok {
		return
	}
	for _, p := range s.order {
		if o, ok := p.(*oauthProvider); ok && o.VerifiesEmail == No {
			s.log.warn("the Adapter is no AccountAdapter: accounts of this provider stay attached when somebody else proves their address", "provider", o.ID)
		}
	}
}
