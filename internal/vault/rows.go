package vault

import (
	"github.com/latchkeyhq/latchkey/storage"
)

// ForRow returns the tokens of a new account as its row holds them. fresh is what the
// provider has sent, and kept what is stored of it. For an unknown provider it returns
// kept.
func (v *Vault) ForRow(provider, id string, fresh, kept storage.Tokens) storage.Tokens {
	p := v.Providers[provider]
	if p == nil {
		return kept
	}
	return v.sealed(accountKey{provider, id}, p, Merge(storage.Tokens{}, kept, p.Lifetime, v.Now()), fresh)
}

// Replace returns the tokens of a sign-in as the row of an account that exists holds
// them. A sign-in without a refresh token keeps the stored one, unless that belongs to
// another client. Replace forgets earlier failures of the account.
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

// sealed returns kept sealed for its row. If no other program reads the row, it adds the
// lifetimes in fresh.
func (v *Vault) sealed(key accountKey, p *Provider, kept, fresh storage.Tokens) storage.Tokens {
	if !v.Seals.isShared() {
		kept = withLifetimes(kept, fresh)
	}
	return v.Seals.sealTokens(key, p.Grant, kept)
}
