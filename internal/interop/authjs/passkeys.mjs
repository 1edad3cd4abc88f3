// A site with Auth.js on Express whose users have passkeys, in PostgreSQL. Run: node passkeys.mjs CONFIG, where
// CONFIG is JSON {"secret", "host", "database"}. Prints {"url"} when it listens, and ends with its standard input.
import { ExpressAuth } from "@auth/express"
import Passkey from "@auth/core/providers/passkey"
import PostgresAdapter from "@auth/pg-adapter"
import express from "express"
import pg from "pg"

const config = JSON.parse(process.argv[2])
const pool = new pg.Pool({ host: config.host, user: "latchkey", database: config.database })

const columns = ["credentialID", "userId", "providerAccountId", "credentialPublicKey", "counter", "credentialDeviceType", "credentialBackedUp", "transports"]
const ask = async (text, values) => (await pool.query(text, values)).rows
const authenticators = (where, value) => ask(`SELECT * FROM authenticators WHERE ${where} = $1`, [value])
const fromRow = (row) => row && { ...row, counter: Number(row.counter) }

// The PostgreSQL adapter knows no passkeys; these are the methods that its authors ask for.
const adapter = {
  ...PostgresAdapter(pool),
  getAccount: async (id, provider) =>
    (await ask(`SELECT * FROM accounts WHERE "providerAccountId" = $1 AND provider = $2`, [id, provider]))[0] ?? null,
  getAuthenticator: async (id) => fromRow((await authenticators(`"credentialID"`, id))[0]) ?? null,
  listAuthenticatorsByUserId: async (id) => (await authenticators(`"userId"`, id)).map(fromRow),
  createAuthenticator: async (authenticator) => {
    const names = columns.map((name) => `"${name}"`).join(", ")
    const places = columns.map((_, i) => `$${i + 1}`).join(", ")
    await ask(`INSERT INTO authenticators (${names}) VALUES (${places})`, columns.map((name) => authenticator[name]))
    return authenticator
  },
  updateAuthenticatorCounter: async (id, counter) =>
    fromRow((await ask(`UPDATE authenticators SET counter = $2 WHERE "credentialID" = $1 RETURNING *`, [id, counter]))[0]),
}

const app = express()
app.set("trust proxy", true)
app.use(
  "/auth/*",
  ExpressAuth({
    secret: config.secret,
    trustHost: true,
    providers: [Passkey],
    adapter,
    experimental: { enableWebAuthn: true },
    logger: { warn() {} },
  })
)

const server = app.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
process.stdin.resume().on("end", () => process.exit())
