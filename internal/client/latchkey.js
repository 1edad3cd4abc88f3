// Latchkey in the browser. The types are in latchkey.d.ts; docs/client.md says how
// to use it.

// The routes are where this file came from: it is client/… below them. What a
// bundler has made of it has to be told.
let base = /^(.*\/)client\/[^/]*$/.exec(import.meta.url)?.[1] ?? "/auth/"

export function configure({ basePath }) {
  base = basePath.replace(/\/*$/, "/")
}

const credentials = "include" // no different, unless the routes are at another origin
const here = () => location.href
const absolute = (url) => new URL(url, here()).href

// textOf leaves out what has no value, which would be sent as "undefined".
const textOf = (fields) => new URLSearchParams(Object.entries(fields).filter(([, value]) => value != null))

async function read(route, init) {
  const response = await fetch(base + route, { credentials, ...init })
  const answer = await response.json().catch(() => null)
  if (response.ok) return answer
  const failure = new Error(answer?.error ?? answer?.message ?? `${route}: status ${response.status}`)
  throw Object.assign(failure, { status: response.status })
}

export const getSession = () => read("session")

export const getProviders = () => read("providers")

export async function getCsrfToken() {
  const response = await fetch(base + "csrf", { credentials })
  return response.ok ? (await response.json()).csrfToken : "" // a site may do without
}

// post sends a form and is told a URL in place of a redirect.
async function post(route, fields) {
  const body = textOf({ ...fields, csrfToken: await getCsrfToken() })
  const response = await fetch(base + route, { method: "POST", credentials, headers: { "X-Auth-Return-Redirect": "1" }, body })
  const url = (await response.json().catch(() => null))?.url
  return { status: response.status, ok: response.ok, url: url ?? absolute(base + "error?error=Configuration") }
}

// visit also reloads where only the part behind # is new.
function visit(url) {
  const [page, place] = url.split("#")
  const stays = place !== undefined && page === here().split("#")[0]
  location.href = url
  if (stays) location.reload()
}

export async function signIn(provider, options, authorizationParams) {
  const { callbackUrl = here(), redirectTo = callbackUrl, redirect = true, ...fields } = options ?? {}
  const type = provider && (await getProviders())[provider]?.type
  if (!type) return choose(provider, redirect, `${base}signin?${textOf({ callbackUrl: redirectTo })}`)
  const changes = type === "credentials"
  const route = `${changes ? "callback" : "signin"}/${provider}?${new URLSearchParams(authorizationParams)}`
  const { status, ok, url } = await post(route, { ...fields, callbackUrl: redirectTo })
  const said = new URL(url === absolute(redirectTo) ? "?" : url, here()).searchParams // that page may have an error of its own
  const error = said.get("error") ?? undefined
  const told = changes && !error && changed()
  if (redirect) return visit(url)
  await told
  return { error, code: said.get("code") ?? undefined, status, ok, url: error ? null : url }
}

// choose leads to the page with all providers.
function choose(provider, redirect, page) {
  if (redirect) return visit(page)
  if (provider) return { error: "InvalidProvider", code: undefined, status: 400, ok: false, url: null }
  return { error: undefined, code: undefined, status: 200, ok: true, url: absolute(page) }
}

export async function signOut(options) {
  const { callbackUrl = here(), redirectTo = callbackUrl, redirect = true } = options ?? {}
  const { url } = await post("signout", { callbackUrl: redirectTo })
  const told = changed()
  if (redirect) return visit(url)
  await told
  return { url }
}

export async function updateSession(data) {
  const session = await read("session", data !== undefined && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ csrfToken: await getCsrfToken(), data }),
  })
  turn++ // answers still to come are older
  learn(session)
  tell()
  return session
}

// What this tab knows of the session, and who wants to be told.
let known // undefined: nothing yet
let turn = 0 // the number of the latest question
let asking = 0
let channel
const subscribers = new Set()

export function onSession(callback, options) {
  const { session, refetchInterval = 0, refetchOnWindowFocus = true } = options ?? {}
  const subscriber = { callback, refetchOnWindowFocus }
  listen()
  subscribers.add(subscriber)
  if (known === undefined) known = session
  if (known === undefined) refresh(true)
  else show(subscriber)
  const poll = () => known && navigator.onLine && !document.hidden && refresh(true)
  const timer = refetchInterval && setInterval(poll, refetchInterval * 1000)
  return () => {
    clearInterval(timer)
    subscribers.delete(subscriber)
    if (!subscribers.size) known = undefined // whoever comes next asks anew
  }
}

// show calls each by itself: one that throws keeps nothing from the others.
const show = (subscriber) => queueMicrotask(() => subscribers.has(subscriber) && subscriber.callback(known))

function learn(session) {
  if (!subscribers.size || JSON.stringify(session) === JSON.stringify(known)) return
  known = session
  subscribers.forEach(show)
}

// refresh asks who is signed in. Of several answers the latest question's counts,
// and a failure changes nothing: who is offline is not signed out.
async function refresh(tells) {
  if (!subscribers.size) return
  const mine = ++turn
  asking++
  const session = await getSession().catch(() => undefined)
  asking--
  if (mine !== turn || session === undefined) return
  learn(session)
  if (tells) tell(markOf(session))
}

// changed is for what this tab has done to the session.
function changed() {
  tell()
  return refresh()
}

// tell says to the other tabs that there may be something new, and with a mark,
// which those who know it can tell from theirs. Pages with the React client of
// Auth.js listen, and speak, on the same channel.
function tell(mark) {
  listen()
  channel.postMessage({ event: "session", data: { trigger: "getSession" }, mark })
}

// markOf is different for different sessions, whenever they end, and says nothing
// about them.
function markOf(session) {
  let mark = 0
  for (const c of JSON.stringify({ ...session, expires: 0 })) mark = (Math.imul(mark, 31) + c.codePointAt()) | 0
  return mark
}

function listen() {
  if (channel) return
  channel = new BroadcastChannel("next-auth")
  channel.onmessage = ({ data }) => data.mark === markOf(known) || refresh()
  const look = () => asking || document.hidden || [...subscribers].every((s) => !s.refetchOnWindowFocus) || refresh(true)
  document.addEventListener("visibilitychange", look)
  addEventListener("focus", look)
  addEventListener("online", () => refresh(true))
  addEventListener("pageshow", (event) => event.persisted && refresh(true)) // it was frozen and heard nothing
}
