// The MongoDB adapter of Auth.js, driven over standard input: one call a line,
// {"method", "args"}, answered by one line, {"result"} or {"error"}.
import { MongoDBAdapter } from "@auth/mongodb-adapter"
import { MongoClient } from "mongodb"
import { createInterface } from "node:readline"

const [url, databaseName] = process.argv.slice(2)
const client = await new MongoClient(url).connect()
const adapter = MongoDBAdapter(client, { databaseName })

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
await client.close()
