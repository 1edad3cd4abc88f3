// A site with Auth.js on Express, built as its documentation says. Run: node site.mjs CONFIG, where CONFIG is
// JSON {"secrets", "secure", "basePath", "issuer": {"url", "id", "secret", "fields"}}, and fields are more of the
// provider object. Prints {"url"} when it listens, and ends with its standard input.
import { ExpressAuth } from "@auth/express"
import express from "express"

const config = JSON.parse(process.argv[2])

const credentials = {
  id: "credentials",
  name: "Credentials",
  type: "credentials",
  credentials: { username: {}, password: {} },
  authorize: ({ username, password }) =>
    password === "lovelace" ? { id: `id of ${username}`, name: username, email: `${username.toLowerCase()}@example.com`, image: null } : null,
}

const email = { id: "email", name: "Email", type: "email", maxAge: 3600, sendVerificationRequest: async () => {} }

const oidc = config.issuer && {
  id: "issuer",
  name: "Issuer",
  type: "oidc",
  issuer: config.issuer.url,
  clientId: config.issuer.id,
  clientSecret: config.issuer.secret,
  checks: ["pkce", "state", "nonce"],
  ...config.issuer.fields,
}

// As much of an adapter as sending a magic link takes.
const adapter = {
  getUserByEmail: async () => null,
  createVerificationToken: async (token) => token,
  useVerificationToken: async () => null,
  createUser: async (user) => user,
  getUserByAccount: async () => null,
  linkAccount: async (account) => account,
}

// A number is a name of that length: nobody may send Latchkey a long one.
const longName = (update) => (/^\d+$/.test(update) ? "x".repeat(Number(update)) : update)

const app = express()
app.set("trust proxy", true)
app.use(
  `${config.basePath ?? "/auth"}/*`,
  ExpressAuth({
    secret: config.secrets,
    trustHost: true,
    useSecureCookies: config.secure,
    session: { strategy: "jwt" },
    providers: [credentials, email, oidc].filter(Boolean),
    adapter,
    callbacks: {
      jwt: ({ token, trigger, session }) => (trigger === "update" ? { ...token, name: longName(session) } : token),
    },
    logger: { error() {}, warn() {} },
  })
)

const server = app.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
process.stdin.resume().on("end", () => process.exit())
