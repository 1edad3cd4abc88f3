// A site with Auth.js on Hono, built as the documentation of @hono/auth-js says: AUTH_URL has the path of the routes.
// Run: node hono.mjs CONFIG, where CONFIG is JSON {"issuer": {"url", "id", "secret"}, "host", "database"}; without a
// database sessions are JWTs. Prints {"url"} when it listens, and ends with its standard input.
import PostgresAdapter from "@auth/pg-adapter"
import { authHandler, initAuthConfig, verifyAuth } from "@hono/auth-js"
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { env } from "hono/adapter"
import pg from "pg"

const { issuer, host, database } = JSON.parse(process.argv[2])

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

const store = database
  ? { providers: [oidc], adapter: PostgresAdapter(new pg.Pool({ host, user: "latchkey", database, max: 2 })) }
  : { providers: [credentials, oidc] }

const app = new Hono()
app.use(
  "*",
  initAuthConfig((c) => ({ secret: env(c).AUTH_SECRET, logger: { error() {}, warn() {} }, ...store }))
)
app.use("/api/auth/*", authHandler())
app.use("/api/*", verifyAuth())
app.get("/api/me", (c) => {
  const { session, token, user } = c.get("authUser")
  return c.json({ id: `${token?.sub ?? user.id}`, name: session.user.name, email: session.user.email })
})

const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` })))
process.stdin.resume().on("end", () => server.close(() => process.exit()))
