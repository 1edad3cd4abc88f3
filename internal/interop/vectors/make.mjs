// Makes jwt/testdata/vectors.json with Auth.js' own code, so that the Go tests can open what it
// sealed. Run: npm ci && npm run make
import { writeFileSync } from "node:fs"
import { decode, encode } from "@auth/core/jwt"
// Not exported by the package, hence the paths: how it cuts cookies and how it makes CSRF tokens.
import { SessionStore } from "./node_modules/@auth/core/lib/utils/cookie.js"
import { createCSRFToken } from "./node_modules/@auth/core/lib/actions/callback/oauth/csrf-token.js"

const plain = "authjs.session-token"
const secure = "__Secure-authjs.session-token"
const secret = "the newest secret, of more than 32 characters"
const older = "an older secret, of more than 32 characters too"
const maxAge = 200 * 365 * 24 * 3600 // so that the vectors outlive their reader

const alice = { name: "Alice", email: "alice@example.com", picture: null, sub: "alice-id" }

const cases = [
  { name: "plain", salt: plain, sealedWith: secret, token: alice },
  { name: "secure cookie name as salt", salt: secure, sealedWith: secret, token: alice },
  { name: "no claims", salt: plain, sealedWith: secret, token: {} },
  { name: "unicode", salt: plain, sealedWith: secret, token: { name: "Žofia 李 🦊", quote: '"\\\u2028<&>\u0007', "clé": "ü" } },
  { name: "null and nested values", salt: plain, sealedWith: secret, token: { a: null, b: { c: [1, -2.5, 1e21, true, { d: "" }] }, e: false, f: [] } },
  { name: "claims that encoding replaces", salt: plain, sealedWith: secret, token: { jti: "mine", sub: "1", exp: 1, iat: 2, z: 0 } },
  { name: "secret with other alphabets", salt: plain, secrets: ["ключ от дома, длиннее тридцати двух"], sealedWith: "ключ от дома, длиннее тридцати двух", token: alice },
  { name: "older of two secrets", salt: plain, secrets: [secret, older], sealedWith: older, token: alice },
  { name: "a check value", salt: "authjs.state", sealedWith: secret, token: { value: "opaque", provider: "github" } },
  { name: "in several cookies", salt: plain, sealedWith: secret, token: { ...alice, big: "x".repeat(9000) }, chunked: true },
]

const quiet = { debug() {} }

async function vector({ name, salt, secrets = [secret], sealedWith, token, chunked }) {
  const sealed = await encode({ token, secret: sealedWith, salt, maxAge })
  const payload = await decode({ token: sealed, secret: secrets, salt })
  const made = { name, secrets, salt, token: sealed, payload }
  if (chunked) {
    const store = new SessionStore({ name: salt, options: {} }, {}, quiet)
    made.cookies = store.chunk(sealed, {}).map(({ name, value }) => ({ name, value }))
  }
  return made
}

async function csrf(secret) {
  const { cookie, csrfToken } = await createCSRFToken({ options: { secret }, isPost: false })
  return { secrets: [].concat(secret), token: csrfToken, cookie }
}

const out = {
  maker: "@auth/core 0.41.3",
  tokens: await Promise.all(cases.map(vector)),
  csrf: [await csrf(secret), await csrf([secret, older])],
}
writeFileSync(new URL("../../../jwt/testdata/vectors.json", import.meta.url), JSON.stringify(out, null, 1) + "\n")
