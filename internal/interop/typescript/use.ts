// What a program may do with the client, and, below "@ts-expect-error", what it may not. Only compiled.
import * as client from "/auth/client/latchkey.js"
import { getSession, onSession, signIn, signOut, type Session, type SignInResponse } from "../../client/latchkey.js"

// The site's own members, as docs/client.md shows it.
declare module "/auth/client/latchkey.js" {
  interface User {
    role?: string
  }
}

const text = (value: string) => value

export async function everything() {
  client.configure({ basePath: "/api/auth" })
  // @ts-expect-error a path, no text
  client.configure("/api/auth")

  const session: Session | null = await getSession()
  // @ts-expect-error nobody may be signed in
  session.expires
  if (session) text(session.expires)
  text(session?.user?.name ?? "nobody")
  text((await client.getSession())?.user?.role ?? "none")

  const providers = await client.getProviders()
  for (const { id, name, type } of Object.values(providers)) if (type !== "credentials") text(id + name)
  // @ts-expect-error no such type
  if (providers.x.type === "saml") return

  text(await client.getCsrfToken())
  const renewed: Session | null = await client.updateSession({ name: "Ada" })
  text(renewed?.expires ?? "")
  await client.updateSession()

  const stop: () => void = onSession((s) => text(s?.user?.email ?? ""), { session, refetchInterval: 60, refetchOnWindowFocus: false })
  stop()
  // @ts-expect-error seconds
  onSession(() => {}, { refetchInterval: "60" })
}

export async function inAndOut(form: HTMLFormElement) {
  const gone: void = await signIn("github")
  await signIn()
  await signIn("github", { redirectTo: "/" }, { login_hint: "ada" })
  await signIn("github", undefined, new URLSearchParams("prompt=login"))

  const result: SignInResponse = await signIn("credentials", { ...Object.fromEntries(new FormData(form)), redirect: false })
  if (result.error) text(result.error + result.code)
  // @ts-expect-error null with an error
  location.href = result.url
  if (result.url) location.href = result.url
  // @ts-expect-error the page is being left
  text((await signIn("github", { redirect: true })).url)

  text((await signOut({ redirect: false, redirectTo: "/" })).url)
  const left: void = await signOut()
  return [gone, left]
}

export async function passkeys() {
  const made: SignInResponse = await client.registerPasskey("passkey", { redirect: false })
  text(made.url ?? "")
  await client.registerPasskey()
  await client.autofillPasskey("passkey", { redirectTo: "/" })
  const upgraded: boolean = await client.upgradeToPasskey()
  await client.signalPasskeys({ rpId: location.hostname, credentialId: "AAAA" })
  // @ts-expect-error whose passkeys
  await client.signalPasskeys({ credentialId: "AAAA" })
  const { action, data } = await client.askPasskey("passkey", { action: "register", email: "ada@example.com" })
  text(action + data)
  await signIn("passkey", { redirect: false }).catch((error: client.StatusError) => error.status)
  return upgraded
}
