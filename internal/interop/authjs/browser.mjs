// The browser functions of next-auth/react, unmodified, with a cookie jar around fetch. Takes one call a line
// on standard input, as JSON {"call", "args"}, and answers with {"result", "location"}: what the function
// returned, and where it sent the window. Run: node browser.mjs ORIGIN
import { createInterface } from "node:readline"

const origin = process.argv[2]
const jar = new Map()

// Its timers and listeners would keep the process alive, and there are no other tabs.
delete globalThis.BroadcastChannel

const realFetch = globalThis.fetch
globalThis.fetch = async (address, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "))
  headers.set("sec-fetch-site", "same-origin")
  if (init.method) headers.set("origin", origin)
  const response = await realFetch(new URL(address, origin), { ...init, headers })
  for (const cookie of response.headers.getSetCookie()) keep(cookie)
  return response
}

function keep(cookie) {
  const [pair, ...attributes] = cookie.split("; ")
  const name = pair.slice(0, pair.indexOf("="))
  if (attributes.includes("Max-Age=0")) jar.delete(name)
  else jar.set(name, pair.slice(name.length + 1))
}

globalThis.window = { location: { href: `${origin}/here`, reload() {} } }
const client = await import("next-auth/react")
Object.assign(client.__NEXTAUTH, { baseUrl: origin, basePath: "/auth" })

for await (const line of createInterface({ input: process.stdin })) {
  const { call, args } = JSON.parse(line)
  window.location.href = `${origin}/here`
  const result = await client[call](...args)
  console.log(JSON.stringify({ result: result ?? null, location: window.location.href }))
}
