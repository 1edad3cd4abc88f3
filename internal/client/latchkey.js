// Latchkey in the browser: types in latchkey.d.ts, the rest in docs/client.md.

// The routes are where this file came from. A bundle has to be told.
let base = /^(.*\/)client\/[^/]*$/.exec(import.meta.url)?.[1] ?? "/auth/"

export function configure({ basePath }) {
  base = basePath.replace(/\/*$/, "/")
}

const credentials = "include" // for routes at another origin
const here = () => location.href
const absolute = (url) => new URL(url, here()).href
const escaped = (url) => url.replace(/[`\\]/g, encodeURIComponent) // as the server does, too

// textOf leaves out what would be sent as "undefined".
const textOf = (fields) => new URLSearchParams(Object.entries(fields).filter(([, value]) => value != null))

async function read(route, init) {
  const response = await fetch(base + route, { credentials, ...init })
  const answer = await response.json().catch(() => null)
  if (response.ok) return answer
  const failure = new Error(answer?.error ?? answer?.message ?? `${route}: status ${response.status}`)
  throw Object.assign(failure, { status: response.status, url: answer?.url })
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

// visit also reloads if only the fragment is new.
function visit(url) {
  const [page, place] = url.split("#")
  const stays = place !== undefined && page === here().split("#")[0]
  location.href = url
  if (stays) location.reload()
}

export const signIn = (provider, options, authorizationParams) => enter(provider, options, authorizationParams)

async function enter(provider, options, authorizationParams, mediation) {
  const { callbackUrl = here(), redirectTo = callbackUrl, redirect = true, ...fields } = options ?? {}
  const type = provider && (await getProviders())[provider]?.type
  if (!type) return choose(provider, redirect, `${base}signin?${textOf({ callbackUrl: redirectTo })}`)
  const answer = type === "webauthn" && (await askPasskey(provider, fields, mediation))
  const changes = answer || type === "credentials"
  const route = `${changes ? "callback" : "signin"}/${encodeURIComponent(provider)}?${new URLSearchParams(authorizationParams)}`
  const { status, ok, url } = await post(route, { ...fields, ...formOf(answer), callbackUrl: redirectTo })
  const said = new URL(url === escaped(absolute(redirectTo)) ? "?" : url, here()).searchParams // not an error of this page
  const error = said.get("error") ?? undefined
  const code = said.get("code") ?? undefined
  const told = changes && !error && changed()
  if (code === "unknown_credential") await tellPasskeys(provider).catch(() => {})
  if (redirect) return visit(url)
  await told
  return { error, code, status, ok, url: error ? null : url }
}

const formOf = ({ action, data }) => action && { action, data }

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
  const poll = () => known && !asking && navigator.onLine && !document.hidden && refresh(true)
  const timer = refetchInterval && setInterval(poll, refetchInterval * 1000)
  return () => {
    clearInterval(timer)
    subscribers.delete(subscriber)
    if (!subscribers.size) known = undefined
  }
}

// show calls each by itself: one that throws keeps nothing from the others.
const show = (subscriber) => queueMicrotask(() => subscribers.has(subscriber) && subscriber.callback(known))

function learn(session) {
  if (!subscribers.size || JSON.stringify(session) === JSON.stringify(known)) return
  known = session
  subscribers.forEach(show)
}

// refresh asks who is signed in. The latest answer counts.
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

// tell has the other tabs look, unless they know the mark. The React client of
// Auth.js uses the same channel.
function tell(mark) {
  listen()
  channel.postMessage({ event: "session", data: { trigger: "getSession" }, mark })
}

// markOf tells sessions apart, and nothing about them.
function markOf(session) {
  let mark = 0
  for (const c of JSON.stringify({ ...session, expires: 0 })) mark = (Math.imul(mark, 31) + c.codePointAt()) | 0
  return mark
}

function listen() {
  if (channel) return
  connect()
  const look = () => asking || document.hidden || [...subscribers].every((s) => !s.refetchOnWindowFocus) || refresh(true)
  document.addEventListener("visibilitychange", look)
  addEventListener("focus", look)
  addEventListener("online", () => refresh(true))
  addEventListener("pagehide", () => channel.close()) // or the page is not kept for "back"
  addEventListener("pageshow", (event) => event.persisted && (connect(), refresh(true)))
}

function connect() {
  channel = new BroadcastChannel("next-auth")
  channel.onmessage = ({ data }) => data.mark === markOf(known) || refresh()
}

// Passkeys.

const passkeys = globalThis.PublicKeyCredential
let pending // a browser answers one question at a time

export async function askPasskey(provider, fields, mediation) {
  const mine = Object.assign(new AbortController(), { mediation })
  if (pending && !pending.mediation && mediation) mine.abort() // a click goes first
  else pending?.abort(), (pending = mine)
  const { signal } = mine
  try {
    signal.throwIfAborted()
    const { action, options } = await readOptions(provider, { ...fields, mediation })
    signal.throwIfAborted()
    const [ask, publicKey] = action === "register" ? ["create", creation(options)] : ["get", request(options)]
    const credential = await navigator.credentials[ask]({ publicKey, mediation, signal })
    return { action, data: JSON.stringify(plain(credential)) }
  } finally {
    if (pending === mine) pending = undefined
  }
}

export const registerPasskey = (provider = "passkey", options) => enter(provider, { ...options, action: "register" })

export async function autofillPasskey(provider = "passkey", options) {
  if (!(await passkeys?.isConditionalMediationAvailable?.())) return
  return enter(provider, { ...options, action: "authenticate" }, undefined, "conditional").catch((error) => {
    if (error.name !== "AbortError") throw error
  })
}

export async function upgradeToPasskey(provider = "passkey", options) {
  if (!(await passkeys?.getClientCapabilities?.())?.conditionalCreate) return false
  const asked = enter(provider, { ...options, action: "register", redirect: false }, undefined, "conditional")
  return asked.then((result) => !result.error, () => false)
}

// Each answer sets the cookie that the next adds to, in all tabs.
function readOptions(provider, fields) {
  const ask = () => read(`webauthn-options/${encodeURIComponent(provider)}?${textOf(fields)}`)
  return navigator.locks?.request("latchkey", ask) ?? ask()
}

// Only the server knows what is gone: other sites may share the relying party.
export const tellPasskeys = async (provider = "passkey") =>
  signalPasskeys((await readOptions(provider, { action: "signals" })).options ?? {})

export async function signalPasskeys(news) {
  const names = { credentialId: "signalUnknownCredential", allAcceptedCredentialIds: "signalAllAcceptedCredentials", name: "signalCurrentUserDetails" }
  for (const member in names) if (news[member]) await passkeys?.[names[member]]?.(news).catch(() => {})
}

// The JSON of WebAuthn 3, section 5.1, for older browsers, too.

const creation = (options) =>
  passkeys.parseCreationOptionsFromJSON?.(options) ?? {
    ...request(options),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: options.excludeCredentials?.map(withBytes),
  }

const request = (options) =>
  (!options.user && passkeys.parseRequestOptionsFromJSON?.(options)) || {
    ...options,
    challenge: bytesOf(options.challenge),
    allowCredentials: options.allowCredentials?.map(withBytes),
  }

const withBytes = (listed) => ({ ...listed, id: bytesOf(listed.id) })

function plain(credential) {
  try {
    return credential.toJSON() // which extensions of password managers may get wrong
  } catch {
    const { id, type, rawId, response, authenticatorAttachment } = credential
    const said = { transports: response.getTransports?.() }
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
      if (response[name]) said[name] = base64url(response[name])
    return { id, type, rawId: base64url(rawId), response: said, authenticatorAttachment, clientExtensionResults: {} }
  }
}

const bytesOf = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt())

const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "")
