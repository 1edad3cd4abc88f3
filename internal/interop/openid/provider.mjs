// A certified OpenID Provider with its own login and consent pages. Run: node provider.mjs CLIENTS, where
// CLIENTS is a JSON list of client metadata. Prints {"url"} when it listens, and ends with its standard input.
import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:http"

console.info = console.warn = console.error // standard output is for the URL
const { default: Provider } = await import("oidc-provider")

const key = (alg, type, options) => {
  const { privateKey } = generateKeyPairSync(type, options)
  return { ...privateKey.export({ format: "jwk" }), alg, kid: alg, use: "sig" }
}

let handle
const server = createServer((request, response) => handle(request, response))
server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(url, {
    clients: JSON.parse(process.argv[2]),
    jwks: {
      keys: [
        key("RS256", "rsa", { modulusLength: 2048 }),
        key("PS256", "rsa", { modulusLength: 2048 }),
        key("ES256", "ec", { namedCurve: "P-256" }),
        key("EdDSA", "ed25519"),
      ],
    },
    cookies: { keys: ["only for tests"] },
    pkce: { required: () => true },
    fetch: (url, { dispatcher, ...options }) => fetch(url, options), // without the dispatcher that refuses loopback addresses
    features: { devInteractions: { enabled: true }, jwtUserinfo: { enabled: true }, backchannelLogout: { enabled: true } },
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"],
    enabledJWA: {
      idTokenSigningAlgValues: ["RS256", "PS256", "ES256", "EdDSA"],
      userinfoSigningAlgValues: ["RS256", "ES256"],
      clientAuthSigningAlgValues: ["HS256", "RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"],
    },
    conformIdTokenClaims: false, // so that the ID token has the profile, too
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture"] },
    // The name says where it was read: "id_token" or "userinfo".
    findAccount: async (_, id) => ({
      accountId: id,
      claims: async (use) => ({ sub: id, name: `${id} by ${use}`, email: `${id}@Example.com`, email_verified: true, picture: `https://example.com/${id}.png` }),
    }),
  })
  provider.on("backchannel.error", (_, error) => console.error("back channel:", error))
  handle = provider.callback()
  console.log(JSON.stringify({ url }))
})
process.stdin.resume().on("end", () => process.exit())
