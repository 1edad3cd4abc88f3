// The site of docs/moving-from-authjs.md before its move: the callbacks of the listing there, as they stand on the
// page, and a provider object with every field that its table translates. Run: node moved.mjs CONFIG, where CONFIG is
// JSON {"secret", "page", "issuer": {"url", "id", "secret"}, "provider"}. Prints {"url"} when it listens, and ends with
// its standard input.
import { readFileSync } from "node:fs"
import { ExpressAuth, getSession } from "@auth/express"
import express from "express"

const { secret, page, issuer, provider } = JSON.parse(process.argv[2])

// listing is the program of the page, as a function of what it names.
const [, after] = readFileSync(page, "utf8").split("## Callbacks, before and after\n")
const listing = /```ts\n([^]*?)```/.exec(after)[1].replace(/^export const \{[^}]*\} = /, "return ")

const acme = {
  id: provider,
  name: "Acme",
  type: "oidc",
  issuer: issuer.url,
  wellKnown: `${issuer.url}/.well-known/openid-configuration`,
  clientId: issuer.id,
  clientSecret: issuer.secret,
  checks: ["pkce", "state", "nonce"],
  idToken: false,
  authorization: {
    params: { scope: "openid profile email offline_access", prompt: "login", audience: "https://api.acme.example" },
  },
  token: `${issuer.url}/token`,
  userinfo: {
    url: `${issuer.url}/userinfo`,
    request: async ({ tokens, provider }) =>
      (await fetch(provider.userinfo.url, { headers: { Authorization: `Bearer ${tokens.access_token}` } })).json(),
  },
}

const roleOf = (provider, id) => (provider === acme.id && id === "ada" ? "admin" : "reader")

const config = {
  ...new Function("NextAuth", "GitHub", "roleOf", listing)((config) => config, acme, roleOf),
  secret,
  trustHost: true,
  basePath: "/api/auth",
  logger: { error() {}, warn() {} },
}

const app = express()
app.set("trust proxy", true)
app.use("/api/auth/*", ExpressAuth(config))

// What the middleware of Next.js does with callbacks.authorized.
app.use(async (req, res) => {
  const auth = await getSession(req, config)
  const may = await config.callbacks.authorized({ auth, request: { nextUrl: { pathname: req.path } } })
  if (may) res.send("come in")
  else res.redirect("/api/auth/signin")
})

const server = app.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
process.stdin.resume().on("end", () => process.exit())
