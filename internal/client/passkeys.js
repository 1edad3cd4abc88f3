// Passkeys in forms: of the built-in pages, and of pages that have such forms of
// their own. docs/client.md says what they look like.
import { askPasskey, signalPasskeys } from "./latchkey.js"

const signs = "form[data-latchkey-passkey]"
const adds = "form[data-latchkey-passkey-add]"
const shown = "latchkey passkey" // the one that was shown last, while the page is being left

// A button with a formaction signs in another way.
document.addEventListener("submit", (event) => {
  if (!event.target.matches(`${signs}, ${adds}`) || event.submitter?.hasAttribute("formaction")) return
  event.preventDefault()
  answer(event.target, event.submitter?.value)
})

// answer has the browser ask for a passkey, and sends the form with it.
async function answer(form, wanted, mediation) {
  const { latchkeyPasskeyAdd: add, latchkeyPasskey: provider = add, latchkeyPasskeyField: only } = form.dataset
  const sent = [...new FormData(form)].filter(([name]) => !only || name === only)
  const { action, data, csrfToken, callbackUrl, ...typed } = Object.fromEntries(sent)
  const fields = { ...(mediation ? {} : typed), action: wanted || (add && "register") || undefined }
  if (!mediation) say(form)
  try {
    const { rpId, credentialId, ...filled } = await askPasskey(provider, fields, mediation)
    for (const name in filled) Object.assign(form.elements.namedItem(name), { value: filled[name], disabled: false })
    sessionStorage.setItem(shown, JSON.stringify({ rpId, credentialId }))
    HTMLFormElement.prototype.submit.call(form) // a field may be called submit
  } catch (error) {
    if (error.url) location.href = error.url // to sign in once more
    else if (!mediation) fail(form, error)
  }
}

// fail says why in the page's own words, which its form has in attributes.
function fail(form, { name, status }) {
  const why = { NotAllowedError: "cancelled", AbortError: "cancelled", InvalidStateError: "known", 429: "wait", 400: "refused" }[status ?? name]
  say(form, why ?? "failed")
  offer() // which was ended by the question
}

function say(form, why) {
  const place = form.querySelector("[data-latchkey-passkey-error]")
  if (!place) return
  place.textContent = why ? (place.dataset[why] ?? place.dataset.failed ?? "") : ""
  place.hidden = !place.textContent
}

// offer has the browser offer passkeys where somebody types.
async function offer() {
  const form = document.querySelector(`${signs}:has(input[autocomplete~="webauthn"])`)
  if (form && (await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())) answer(form, "authenticate", "conditional")
}

// A page that is looked at again has a new question, since those of the server
// end after 15 minutes.
offer()
document.addEventListener("visibilitychange", () => document.hidden || offer())
setInterval(() => document.hidden || offer(), 600_000)

// What the server says of passkeys is for password managers.
const news = document.querySelector("[data-latchkey-passkeys]")
if (news) signalPasskeys(JSON.parse(news.dataset.latchkeyPasskeys))
if (document.querySelector("[data-latchkey-passkey-unknown]")) signalPasskeys(JSON.parse(sessionStorage.getItem(shown) ?? "{}"))
