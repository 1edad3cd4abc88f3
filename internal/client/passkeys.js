// Passkeys in forms: docs/client.md. A page may show HTML of an attacker, so markup is
// data: providers are the site's, answers go to its route, and news are the server's.
import { askPasskey, getProviders, tellPasskeys, upgradeToPasskey } from "./latchkey.js"

const signs = "form[data-latchkey-passkey]"
const adds = "form[data-latchkey-passkey-add]"
const proves = "form[data-latchkey-passkey-factor]"
const routes = new URL("..", import.meta.url)

// A button with a formaction signs in another way.
document.addEventListener("submit", (event) => {
  if (!event.target.matches(`${signs}, ${adds}, ${proves}`) || event.submitter?.hasAttribute("formaction")) return
  event.preventDefault()
  answer(event.target, event.submitter?.value)
})

// answer asks the browser for a passkey and sends it with the fields of the form.
async function answer(form, wanted, mediation) {
  const { latchkeyPasskeyAdd: add, latchkeyPasskeyFactor: factor, latchkeyPasskeyFor: purpose, latchkeyPasskeyField: only } = form.dataset
  const { latchkeyPasskey: provider = add ?? factor } = form.dataset
  const { action, data, csrfToken, callbackUrl, ...all } = Object.fromEntries(new FormData(form))
  const typed = only ? { [only]: all[only] } : all
  const page = factor && (purpose === "reauth" ? purpose : "factor")
  const asked = factor ? "authenticate" : ["register", "authenticate"].includes(wanted) ? wanted : add && "register"
  if (!mediation) say(form)
  try {
    if (!(await passkeyProviders()).includes(provider)) throw new Error("no such provider")
    const filled = await askPasskey(provider, { ...(mediation || page ? {} : typed), action: asked || undefined, for: page }, mediation)
    send(page ? page + queryOf(form) : "callback/" + encodeURIComponent(provider), { ...typed, csrfToken, callbackUrl, ...filled })
  } catch (error) {
    if (ownPage(error.url)) location.href = error.url // to sign in once more
    else if (!mediation) fail(form, error)
  }
}

// queryOf returns where a page for another proof leads back to, of its action.
const queryOf = (form) => new URL(Element.prototype.getAttribute.call(form, "action") ?? "", location.href).search

const passkeyProviders = async () =>
  Object.values(await getProviders()).flatMap(({ id, type }) => (type === "webauthn" ? id : []))

// send uses its own form: that of the page may have any action.
function send(route, fields) {
  const form = document.createElement("form")
  Object.assign(form, { method: "post", action: new URL(route, routes).href, hidden: true })
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }))
  }
  document.documentElement.append(form)
  HTMLFormElement.prototype.submit.call(form) // a field may be called submit
}

const ownPage = (url) => url && new URL(url, routes).origin === location.origin

// fail says why, in words that the form has in attributes.
function fail(form, { name, status }) {
  const why = { NotAllowedError: "cancelled", AbortError: "cancelled", InvalidStateError: "known", 429: "wait", 400: "refused" }[status ?? name]
  say(form, why ?? "failed")
  offer() // which was ended by the question
}

function say(form, why) {
  const place = Element.prototype.querySelector.call(form, "[data-latchkey-passkey-error]") // a field may have that name
  if (!place) return
  place.textContent = why ? (place.dataset[why] ?? place.dataset.failed ?? "") : ""
  place.hidden = !place.textContent
}

// offer offers passkeys where somebody types.
async function offer() {
  const form = document.querySelector(`${signs}:has(input[autocomplete~="webauthn"])`)
  if (form && (await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())) answer(form, "authenticate", "conditional")
}

// A page that is looked at again has a new question, since those of the server
// end after 15 minutes.
offer()
document.addEventListener("visibilitychange", () => document.hidden || offer())
setInterval(() => document.hidden || offer(), 600_000)

const form = document.querySelector("[data-latchkey-passkey-upgrade]")
if (form && (await upgradeToPasskey(form.dataset.latchkeyPasskeyAdd))) location.reload()

async function tell() {
  for (const provider of await passkeyProviders()) await tellPasskeys(provider)
}
if (document.querySelector("[data-latchkey-passkeys]")) tell().catch(() => {})
