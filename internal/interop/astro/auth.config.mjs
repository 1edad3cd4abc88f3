// The site's Auth.js: a password, and the issuer that ISSUER names, JSON {"url", "id", "secret"}.
import { defineConfig } from "auth-astro"

const issuer = JSON.parse(process.env.ISSUER ?? "{}")

const credentials = {
  id: "credentials",
  name: "Credentials",
  type: "credentials",
  credentials: { username: {}, password: {} },
  authorize: ({ username, password }) =>
    password === "lovelace" ? { id: `id of ${username}`, name: username, email: `${username.toLowerCase()}@example.com` } : null,
}

const oidc = {
  id: "issuer",
  name: "Issuer",
  type: "oidc",
  issuer: issuer.url,
  clientId: issuer.id,
  clientSecret: issuer.secret,
  checks: ["pkce", "state", "nonce"],
}

export default defineConfig({
  secret: process.env.AUTH_SECRET,
  trustHost: true,
  providers: [credentials, oidc],
  callbacks: {
    session({ session, token }) {
      session.user.id = token.sub
      return session
    },
  },
  logger: { error() {}, warn() {} },
})
