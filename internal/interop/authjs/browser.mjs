// The browser functions of next-auth/react or @hono/auth-js/react, unmodified, with a cookie jar around fetch. Takes
// one call a line on standard input, as JSON {"call", "args"}, and answers with {"result", "location"}: what the
// function returned, and where it sent the window. "useSession" is a call, too: a component reads the session, and with
// an argument updates it. Run: node browser.mjs ORIGIN MODULE
import { createInterface } from "node:readline"
import React from "react"
import { act, create } from "react-test-renderer"

const [origin, module] = process.argv.slice(2)
const jar = new Map()

// Its timers and listeners would keep the process alive, and there are no other tabs.
delete globalThis.BroadcastChannel

const realFetch = globalThis.fetch
globalThis.fetch = async (url, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "))
  headers.set("sec-fetch-site", "same-origin")
  if (init.method) headers.set("origin", origin)
  const response = await realFetch(new URL(url, origin), { ...init, headers })
  for (const cookie of response.headers.getSetCookie()) keep(cookie)
  return response
}

function keep(cookie) {
  const [pair, ...attributes] = cookie.split("; ")
  const name = pair.slice(0, pair.indexOf("="))
  if (attributes.includes("Max-Age=0")) jar.delete(name)
  else jar.set(name, pair.slice(name.length + 1))
}

const deaf = { addEventListener() {}, removeEventListener() {} }
globalThis.window = { ...deaf, location: { href: `${origin}/here`, reload() {} } }
globalThis.document = { ...deaf, visibilityState: "visible" }
globalThis.IS_REACT_ACT_ENVIRONMENT = true

const client = { ...(await import(module)) }
const place = { baseUrl: origin, basePath: "/auth" }
if (client.__NEXTAUTH) Object.assign(client.__NEXTAUTH, place)
else client.authConfigManager.setConfig(place)

client.useSession = inComponent(client.useSession)

function inComponent(useSession) {
  return async (...update) => {
    let seen
    const Component = () => ((seen = useSession()), null)
    let tree
    await act(async () => void (tree = create(React.createElement(client.SessionProvider, null, React.createElement(Component)))))
    while (seen.status === "loading") await act(() => new Promise(setImmediate))
    const before = seen.data
    if (update.length) await act(() => seen.update(...update))
    const result = { before, status: seen.status, data: seen.data }
    await act(async () => tree.unmount())
    return result
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, args } = JSON.parse(line)
  window.location.href = `${origin}/here`
  const result = await client[call](...args)
  console.log(JSON.stringify({ result: result ?? null, location: window.location.href }))
}
