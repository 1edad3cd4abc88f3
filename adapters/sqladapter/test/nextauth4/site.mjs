// A site of NextAuth v4 with one provider and JWT sessions. Run: node site.mjs CONFIG, where CONFIG is JSON {"secret",
// "provider"}, the provider object without its functions. Prints {"url"} when it listens, and ends with its standard
// input.
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { text } from "node:stream/consumers"
import { parse, serialize } from "cookie"

const { AuthHandler } = createRequire(import.meta.url)("./node_modules/next-auth/core/index.js")

const { secret, provider } = JSON.parse(process.argv[2])
const options = {
  secret,
  providers: [{ ...provider, profile: ({ sub, name, email }) => ({ id: sub, name, email }) }],
  logger: { error() {}, warn() {}, debug() {} },
}

// What next-auth/next does with a request.
const server = createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url, process.env.NEXTAUTH_URL)
  const [action, providerId] = pathname.split("/").slice(3)
  const { method, headers } = req
  const body = Object.fromEntries(new URLSearchParams(await text(req)))
  const query = Object.fromEntries(searchParams)
  const answer = await AuthHandler({
    req: { action, providerId, method, headers, body, query, cookies: parse(headers.cookie ?? ""), error: query.error ?? providerId },
    options,
  })
  for (const { key, value } of answer.headers ?? []) res.setHeader(key, value)
  for (const cookie of answer.cookies ?? []) res.appendHeader("set-cookie", serialize(cookie.name, cookie.value, cookie.options))
  if (answer.redirect) res.setHeader("location", answer.redirect)
  res.statusCode = answer.redirect ? 302 : (answer.status ?? 200)
  res.end(typeof answer.body === "object" ? JSON.stringify(answer.body) : answer.body)
})

server.listen(0, "127.0.0.1", () => {
  process.env.NEXTAUTH_URL = `http://127.0.0.1:${server.address().port}`
  console.log(JSON.stringify({ url: process.env.NEXTAUTH_URL }))
})
process.stdin.resume().on("end", () => process.exit())
