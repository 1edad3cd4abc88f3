// A site with Auth.js on Express on a PostgreSQL database, with sign-in by mail and by a provider. Run:
// node whole.mjs CONFIG, where CONFIG is JSON {"secret", "host", "database", "strategy", "issuer": {"url", "id",
// "secret"}}. Prints {"url"} when it listens, then {"mail": URL} for each mail, and ends with its standard input.
import { ExpressAuth } from "@auth/express"
import PostgresAdapter from "@auth/pg-adapter"
import express from "express"
import pg from "pg"

const { secret, host, database, strategy, issuer } = JSON.parse(process.argv[2])
const say = (what) => console.log(JSON.stringify(what))

const email = { id: "email", name: "Email", type: "email", maxAge: 3600, sendVerificationRequest: async ({ url }) => say({ mail: url }) }

const oidc = {
  id: "issuer",
  name: "Issuer",
  type: "oidc",
  issuer: issuer.url,
  clientId: issuer.id,
  clientSecret: issuer.secret,
  checks: ["pkce", "state", "nonce"],
}

const app = express()
app.set("trust proxy", true)
app.use(
  "/auth/*",
  ExpressAuth({
    secret,
    trustHost: true,
    session: { strategy },
    providers: [email, oidc],
    adapter: PostgresAdapter(new pg.Pool({ host, user: "latchkey", database })),
    logger: { warn() {} },
  })
)

const server = app.listen(0, "127.0.0.1", () => say({ url: `http://127.0.0.1:${server.address().port}` }))
process.stdin.resume().on("end", () => process.exit())
