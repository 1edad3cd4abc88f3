package vault

import (
	"github.com/latchkeyhq/latchkey/storage"
)

// ForRow returns the tokens to store for a new account: sealed, and with an expiry if the
// provider has a Lifetime. It stores nothing itself. fresh is what the provider has sent,
// and kept is the part of it to store. For an unknown provider it returns kept.
func (v *Vault) ForRow(provider, id string, fresh, kept storage.Tokens) storage.Tokens {
	p := v.Providers[provider]
	if p == nil {
		return kept
	}
	return v.sealed(accountKey{provider, id}, p, Merge(storage.Tokens{}, kept, p.Lifetime, v.Now()), fresh)
}

// Replace returns the tokens to store for an account that exists after another sign-in,
// sealed. It stores nothing itself. row is the account as it is stored; fresh and kept
// are as in ForRow. What kept lacks, such as a refresh token, comes from row as Merge
// says, unless the tokens in row do not open or belong to another client. Replace ends a
// pause after earlier failures of the account. For an unknown provider it returns kept.
func (v *Vault) Replace(row storage.Account, fresh, kept storage.Tokens) storage.Tokens {
	p, key := v.Providers[row.Provider], accountKey{row.Provider, row.ProviderAccountID}
	if p == nil {
		return kept
	}
	former, grant, err := v.Seals.openTokens(key, row.Tokens)
	if err != nil || grant != (Grant{}) && grant != p.Grant {
		former = storage.Tokens{}
	}
	v.memoryOf(key).resume()
	return v.sealed(key, p, Merge(former, kept, p.Lifetime, v.Now()), fresh)
}

// sealed returns kept as v.Seals writes it to the row of key. fresh and kept are as in
// ForRow. Unless other programs read the row, sealed first adds the lifetimes in fresh.
func (v *Vault) sealed(key accountKey, p *Provider, kept, fresh storage.Tokens) storage.Tokens {
	if !v.Seals.isShared() {
		kept = withLifetimes(kept, fresh)
	}
	return v.Seals.sealTokens(key, p.Grant, kept)
}
