// NextAuth v4 with stored sessions, in the tables of @auth/pg-adapter. Run: node peer.mjs CONFIG, where CONFIG is JSON
// {"host", "database", "schema", "url"}. Lines of JSON in and out: {"method", "args"} is answered by {"result"} or
// {"error"}.
import { createRequire } from "node:module"
import { createInterface } from "node:readline"
import PostgresAdapter from "@auth/pg-adapter"
import pg from "pg"

// What next-auth/next calls; the package exports it by no name.
const { AuthHandler } = createRequire(import.meta.url)("./node_modules/next-auth/core/index.js")

const { host, database, schema, url } = JSON.parse(process.argv[2])
process.env.NEXTAUTH_URL = url

let sent
const options = {
  secret: "the secret of a site of NextAuth v4, long enough",
  adapter: PostgresAdapter(new pg.Pool({ host, user: "latchkey", database, options: `-c search_path=${schema}`, max: 2 })),
  session: { strategy: "database" },
  providers: [
    {
      id: "post",
      type: "email",
      name: "Post",
      from: "hello@example.com",
      maxAge: 3600,
      options: {},
      sendVerificationRequest: async (mail) => {
        sent = new URL(mail.url)
      },
    },
  ],
  logger: { error: console.error, warn() {}, debug() {} },
}

// browser asks a site as one browser does.
function browser(cookies = {}) {
  return async (method, action, rest = {}) => {
    const answer = await AuthHandler({ req: { method, action, origin: url, cookies: { ...cookies }, headers: {}, query: {}, ...rest }, options })
    for (const { name, value } of answer.cookies ?? []) cookies[name] = value
    return { ...answer, jar: cookies }
  }
}

const methods = {
  // signIn signs in by a magic link, and returns the session's cookie and the session.
  async signIn(email) {
    const ask = browser()
    const { csrfToken } = (await ask("GET", "csrf")).body
    await ask("POST", "signin", { providerId: "post", body: { csrfToken, email, json: "true" } })
    const { jar } = await ask("GET", "callback", { providerId: "post", query: Object.fromEntries(sent.searchParams) })
    const [name, value] = Object.entries(jar).find(([name]) => name.endsWith("session-token"))
    return { name, value, session: (await ask("GET", "session")).body }
  },
  async session(name, value) {
    return (await browser({ [name]: value })("GET", "session")).body
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line)
  try {
    console.log(JSON.stringify({ result: (await methods[method](...args)) ?? null }))
  } catch (err) {
    console.log(JSON.stringify({ error: `${err?.stack ?? err}` }))
  }
}
process.exit()
