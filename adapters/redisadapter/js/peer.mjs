// The Redis adapters of Auth.js, driven over standard input: one call a line,
// {"method", "args"}, answered by one line, {"result"} or {"error"}. The clients
// of both end at one server, which listens on a socket.
import { UnstorageAdapter } from "@auth/unstorage-adapter"
import { UpstashRedisAdapter } from "@auth/upstash-redis-adapter"
import Redis from "ioredis"
import { createInterface } from "node:readline"
import { createStorage } from "unstorage"
import redisDriver from "unstorage/drivers/redis"

const [which, path, prefix] = process.argv.slice(2)
const redis = new Redis({ path })

// What @upstash/redis does with values: objects and JSON go both ways, other text
// stays as it is.
const upstash = {
  set: (key, value) => redis.set(key, typeof value === "string" ? value : JSON.stringify(value)),
  del: (...keys) => redis.del(...keys.filter((key) => key !== null)),
  async get(key) {
    const text = await redis.get(key)
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  },
}

const adapter =
  which === "upstash"
    ? UpstashRedisAdapter(upstash, { baseKeyPrefix: prefix })
    : UnstorageAdapter(createStorage({ driver: redisDriver({ path }) }), { baseKeyPrefix: prefix })

const dates = new Set(["expires", "emailVerified"])
const revive = (key, value) => (dates.has(key) && value ? new Date(value) : value)

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line, revive)
  const answer = await Promise.resolve(adapter[method](...args)).then(
    (result) => ({ result: result ?? null }),
    (error) => ({ error: error.message }),
  )
  console.log(JSON.stringify(answer))
}
process.exit(0)
