// The PostgreSQL adapter of Auth.js, driven over standard input: one call a
// line, {"method", "args"}, answered by one line, {"result"} or {"error"}.
import PostgresAdapter from "@auth/pg-adapter"
import pg from "pg"
import { createInterface } from "node:readline"

const [host, database, schema] = process.argv.slice(2)
const pool = new pg.Pool({ host, user: "latchkey", database, options: `-c search_path=${schema}` })
const adapter = PostgresAdapter(pool)

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
await pool.end()
