// Better Auth on PostgreSQL, with passwords and one provider of OpenID Connect. Run: node peer.mjs CONFIG, where CONFIG
// is JSON {"host", "database", "schema", "issuer": {"url", "id", "secret"}, "provider"}. Lines of JSON in and out:
// {"method", "args"} is answered by {"result"} or {"error"}.
import { createInterface } from "node:readline"
import { betterAuth } from "better-auth"
import { getMigrations } from "better-auth/db/migration"
import { genericOAuth } from "better-auth/plugins"
import pg from "pg"

const { host, database, schema, issuer, provider } = JSON.parse(process.argv[2])
const origin = "http://127.0.0.1:4004"

const options = {
  baseURL: origin,
  secret: "the secret of a site of Better Auth, long enough",
  database: new pg.Pool({ host, user: "latchkey", database, options: `-c search_path=${schema}`, max: 2 }),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: provider,
          discoveryUrl: `${issuer.url}/.well-known/openid-configuration`,
          clientId: issuer.id,
          clientSecret: issuer.secret,
          scopes: ["openid", "profile", "email"],
          pkce: true,
        },
      ],
    }),
  ],
}
const auth = betterAuth(options)
const jar = {}

// ask sends a request to the site, as the browser with the cookies of jar does.
async function ask(path, body) {
  const cookie = Object.entries(jar).map(([name, value]) => `${name}=${value}`).join("; ")
  const headers = { origin, cookie, ...(body && { "content-type": "application/json" }) }
  const answer = await auth.handler(
    new Request(new URL(path, origin), { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) })
  )
  for (const line of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
    jar[name] = value
  }
  return answer
}

async function known() {
  const read = await (await ask("/api/auth/get-session")).json()
  if (!read?.user) throw new Error("nobody is signed in")
  return { id: read.user.id, email: read.user.email, name: read.user.name }
}

const methods = {
  async migrate() {
    await (await getMigrations(options)).runMigrations()
  },
  async signUp(name, email, password) {
    const answer = await ask("/api/auth/sign-up/email", { name, email, password })
    if (!answer.ok) throw new Error(`sign-up: ${answer.status} ${await answer.text()}`)
    return known()
  },
  async signIn() {
    const answer = await ask("/api/auth/sign-in/social", { provider, callbackURL: "/in", disableRedirect: true })
    const { url } = await answer.json()
    if (!url) throw new Error(`sign-in: ${answer.status}`)
    const back = (await fetch(url, { redirect: "manual" })).headers.get("location")
    const done = await ask(back)
    if (!done.headers.get("location")?.endsWith("/in")) throw new Error(`back at ${done.headers.get("location")}`)
    return known()
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line)
  for (const name of Object.keys(jar)) delete jar[name] // a browser of its own
  try {
    console.log(JSON.stringify({ result: (await methods[method](...(args ?? []))) ?? null }))
  } catch (err) {
    console.log(JSON.stringify({ error: `${err?.stack ?? err}` }))
  }
}
process.exit()
