// What the providers of Auth.js are: prints {version, providers: {id: definition}} as JSON, for every provider of
// type oauth or oidc that @auth/core ships. Run: node providers.mjs RECORDS, where RECORDS is the folder with the
// records of package providers: they say which issuer a provider is told, and what it answers. An empty endpoint is
// discovered, or there is none. What a person becomes is told by the members of the profile that it is read from.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const records = process.argv[2]
const folder = dirname(fileURLToPath(import.meta.resolve("@auth/core/providers/github")))

globalThis.fetch = async () => ({ ok: false }) // a definition that asks for a picture gets none

const paths = Symbol("path")

// member stands for the value at a path: its text is the path, in braces.
const member = (path) =>
  new Proxy(() => {}, {
    get: (_, name) => {
      if (name === paths) return path
      if (name === Symbol.toPrimitive || name === "toString") return () => `{${path}}`
      if (typeof name === "symbol") return undefined
      return member(path ? `${path}.${name}` : name)
    },
    apply: () => member(`${path}()`),
  })

const told = (value) => (value?.[paths] !== undefined ? `{${value[paths]}}` : String(value ?? ""))

// The person that Auth.js takes from a profile, where a definition has no mapping of its own: of members with | between
// them, the first that is there.
const standard = (profile) => ({
  id: profile["sub|id"],
  name: profile["name|nickname|preferred_username"],
  email: profile.email,
  image: profile.picture,
})

// The record of a provider, with the profile that its answers make.
function recordOf(id) {
  const file = `${records}/${id}.json`
  if (!existsSync(file)) return {}
  const read = JSON.parse(readFileSync(file, "utf8"))
  return { issuer: read.options?.issuer, profile: { ...(read.profile ?? read.requests?.[0].answer ?? read.idToken), ...read.added } }
}

// The id that Auth.js takes from the recorded profile.
async function recordedID(provider, profile) {
  try {
    return String((await (provider.profile ?? ((p) => ({ id: p.sub ?? p.id })))(profile, {})).id ?? "")
  } catch {
    return ""
  }
}

async function person(provider) {
  try {
    const made = await (provider.profile ?? standard)(member(""), { access_token: "{access_token}", id_token: "{id_token}" })
    return { id: told(made.id), name: told(made.name), email: told(made.email), image: told(made.image) }
  } catch {
    return { id: "", name: "", email: "", image: "" } // it does more than read
  }
}

function endpoint(e, params) {
  const url = typeof e === "string" ? e : e?.url
  if (!url) return { url: "", params: { ...e?.params, ...params } }
  const parsed = new URL(url)
  const own = Object.fromEntries(parsed.searchParams)
  parsed.search = ""
  return { url: parsed.href, params: { ...own, ...(typeof e === "object" ? e.params : {}) } }
}

// What every provider is told, and what one is told beside that.
const given = { clientId: "client", clientSecret: "secret" }
const own = { netsuite: { accountID: "1234567" } }

// strings are parameters as they are sent.
const strings = (params) =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])
  )

async function define(file) {
  // Nodemailer imports a package that is not installed, and the files with types export no function.
  const { default: make } = await import(pathToFileURL(`${folder}/${file}`).href).catch(() => ({}))
  if (typeof make !== "function") return
  const options = { ...given }
  let provider
  try {
    provider = make(options)
  } catch {
    provider = { id: file.replace(/\.js$/, "") }
  }
  Object.assign(options, own[provider.id])
  const record = recordOf(provider.id)
  if (record.issuer) options.issuer = record.issuer
  try {
    provider = make(options)
  } catch {
    return
  }
  if (provider.type !== "oauth" && provider.type !== "oidc") return
  const authorization = endpoint(provider.authorization)
  const { scope = "openid profile email", ...params } = authorization.params
  return [
    provider.id,
    {
      type: provider.type,
      issuer: provider.issuer ?? options.issuer ?? "",
      authorization: authorization.url,
      token: endpoint(provider.token).url,
      userinfo: endpoint(provider.userinfo).url,
      scope,
      params: strings(params),
      checks: provider.checks ?? ["pkce"],
      clientAuth: provider.client?.token_endpoint_auth_method ?? "client_secret_basic",
      person: await person(provider),
      recordedID: await recordedID(provider, record.profile),
    },
  ]
}

const all = await Promise.all(readdirSync(folder).filter((f) => f.endsWith(".js")).sort().map(define))
const { version } = JSON.parse(readFileSync(`${folder}/../package.json`, "utf8"))
process.stdout.write(JSON.stringify({ version, providers: Object.fromEntries(all.filter(Boolean).sort()) }, null, 1) + "\n")
