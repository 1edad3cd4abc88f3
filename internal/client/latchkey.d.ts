// Types of latchkey.js. docs/client.md of Latchkey says how to use both.

/** Who is signed in, as `Callbacks.Session` of the site shows it. Add members of your own by declaration merging. */
export interface User {
  id?: string
  name?: string | null
  email?: string | null
  image?: string | null
}

/** A session. Add members of your own by declaration merging. */
export interface Session {
  user?: User
  /** When it ends unless it is used, in the format of `Date.toISOString`. */
  expires: string
}

/** One way to sign in. */
export interface Provider {
  id: string
  name: string
  type: "oauth" | "oidc" | "email" | "credentials" | "webauthn"
  signinUrl: string
  callbackUrl: string
}

/** What a sign-in takes. All members but those named here are sent as fields of the form. */
export interface SignInOptions<Redirect extends boolean = boolean> {
  /** Where the browser goes once somebody is signed in. Default: the page it is on. */
  redirectTo?: string
  /** @deprecated Use `redirectTo`. */
  callbackUrl?: string
  /** `false` keeps the page and returns a {@link SignInResponse}. Default: true. */
  redirect?: Redirect
  [field: string]: unknown
}

/** What became of a sign-in. */
export interface SignInResponse {
  /** An error type, such as `CredentialsSignin`; undefined: none. */
  error: string | undefined
  /** What `Authorize` says beside `CredentialsSignin`. */
  code: string | undefined
  /** The HTTP status: 429 after too many tries. */
  status: number
  ok: boolean
  /** Where to go now: the page that was asked for, a provider, "check your e-mail". null with an error. */
  url: string | null
}

export interface SignOutOptions<Redirect extends boolean = boolean> {
  /** Where the browser goes then. Default: the page it is on. */
  redirectTo?: string
  /** @deprecated Use `redirectTo`. */
  callbackUrl?: string
  /** `false` keeps the page. Default: true. */
  redirect?: Redirect
}

export interface SignOutResponse {
  url: string
}

/** Parameters for the provider's authorization endpoint, such as `{login_hint: "ada"}`. */
export type AuthorizationParams = string | string[][] | Record<string, string> | URLSearchParams

/** An answer that was no success; everything that asks the server may reject with one. */
export interface StatusError extends Error {
  status: number
  /** Where to go first: to sign in once more before a passkey is made. */
  url?: string
}

/**
 * Says where the routes are, where the file does not know because a bundler has moved it.
 * @example configure({ basePath: "/auth" })
 */
export function configure(options: { basePath: string }): void

/**
 * Signs in: with a provider, by its id, or on the page where all of them are.
 * A provider of type `webauthn` asks for a passkey.
 */
export function signIn(provider: string | undefined, options: SignInOptions<false> & { redirect: false }, authorizationParams?: AuthorizationParams): Promise<SignInResponse>
export function signIn(provider?: string, options?: SignInOptions<true>, authorizationParams?: AuthorizationParams): Promise<void>
export function signIn(provider?: string, options?: SignInOptions, authorizationParams?: AuthorizationParams): Promise<SignInResponse | void>

/** Signs out, in all tabs of the browser. */
export function signOut(options: SignOutOptions<false> & { redirect: false }): Promise<SignOutResponse>
export function signOut(options?: SignOutOptions<true>): Promise<void>
export function signOut(options?: SignOutOptions): Promise<SignOutResponse | void>

/** The session, or null when nobody is signed in. */
export function getSession(): Promise<Session | null>

/** The providers by id, in the order of the configuration. */
export function getProviders(): Promise<Record<string, Provider>>

/** The token for forms of your own; empty where the site does without. */
export function getCsrfToken(): Promise<string>

/** Hands data to `Callbacks.Token` (or `Callbacks.Session`) and returns the new session; without data, only renews it. */
export function updateSession(data?: unknown): Promise<Session | null>

export interface OnSessionOptions {
  /** The session, where the page came with it; it is not asked for at first then. */
  session?: Session | null
  /** Asks anew every so many seconds, while somebody is signed in and the page is to be seen. Default: 0, never. */
  refetchInterval?: number
  /** Asks anew when the page comes to the front. Default: true. */
  refetchOnWindowFocus?: boolean
}

/**
 * Calls back with the session, now and whenever it changes: here, in another tab, or on the server.
 * @returns a function that ends it
 */
export function onSession(callback: (session: Session | null) => void, options?: OnSessionOptions): () => void

/** Makes a passkey, for a new user or for the one who is signed in. `provider` is "passkey" by default. */
export function registerPasskey(provider: string | undefined, options: SignInOptions<false> & { redirect: false }): Promise<SignInResponse>
export function registerPasskey(provider?: string, options?: SignInOptions): Promise<SignInResponse | void>

/**
 * Offers passkeys where the browser fills in `<input autocomplete="username webauthn">`, and signs in
 * with the one that is chosen. undefined where the browser cannot, or when something else asked for a
 * passkey meanwhile.
 */
export function autofillPasskey(provider?: string, options?: SignInOptions): Promise<SignInResponse | void>

/**
 * Makes a passkey for who has just signed in with a password that the browser filled in, without a
 * question. False where the browser cannot, or did not want to.
 */
export function upgradeToPasskey(provider?: string, options?: SignInOptions): Promise<boolean>

/** What a password manager can be told of passkeys. */
export interface PasskeyNews {
  rpId: string
  /** The user handle, base64url. */
  userId?: string
  /** A passkey that the site has known and knows no longer. Never one that it has not known: that may be another site's. */
  credentialId?: string
  /** All passkeys of the user that the site knows. */
  allAcceptedCredentialIds?: string[]
  /** What the user is called now. */
  name?: string
  displayName?: string
}

/**
 * Asks the server which passkeys are gone or are called something else, and tells password managers.
 * Call it after a passkey was renamed or removed.
 */
export function tellPasskeys(provider?: string): Promise<void>

/** Tells password managers what became of passkeys, where the browser can (Signal API of WebAuthn). */
export function signalPasskeys(news: PasskeyNews): Promise<void>

/** What a form answers with. */
export interface PasskeyAnswer {
  action: "authenticate" | "register"
  /** The credential as JSON. */
  data: string
}

/**
 * Asks for a passkey and leaves it to you to post `action` and `data` to `callback/ID`. `fields` may
 * name an `action` and an `email`. Ends a question that is open.
 */
export function askPasskey(provider: string, fields?: Record<string, unknown>, mediation?: "conditional"): Promise<PasskeyAnswer>
