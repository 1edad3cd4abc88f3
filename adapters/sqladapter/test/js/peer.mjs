// An adapter of Auth.js, driven over standard input: one call a line, {"method",
// "args"}, answered by one line, {"result"} or {"error"}. The arguments say which
// one, on which engine, and where the database is.
import { createInterface } from "node:readline"

const [name, engine, json] = process.argv.slice(2)
const where = JSON.parse(json)

async function open() {
  if (name !== "pg") {
    const { adapters } = await import("./orms.mjs")
    return adapters[name](engine, where)
  }
  const { default: PostgresAdapter } = await import("@auth/pg-adapter")
  const { default: pg } = await import("pg")
  const { host, database, schema } = where
  return PostgresAdapter(new pg.Pool({ host, user: "latchkey", database, options: `-c search_path=${schema}` }))
}

process.env.NODE_ENV = "production" // nobody makes tables here
const adapter = await open()
const dates = new Set(["expires", "emailVerified"])
const revive = (key, value) => (dates.has(key) && value ? new Date(value) : value)

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line, revive)
  const answer = await adapter[method](...args).then(
    (result) => ({ result: result ?? null }),
    (error) => ({ error: error.message }),
  )
  console.log(JSON.stringify(answer))
}
process.exit(0)
