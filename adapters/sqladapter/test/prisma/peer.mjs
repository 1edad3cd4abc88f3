// The Prisma adapter of Auth.js with its real client, driven as ../js/peer.mjs is. The
// client is generated for the engine first. Prisma 7 needs no binary for that: the
// variable names some program, so that it does not look for the engine of migrations,
// which nothing here calls.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { PrismaAdapter } from "@auth/prisma-adapter"

const [engine, json] = process.argv.slice(2)
const where = JSON.parse(json)
const provider = { postgres: "postgresql", mysql: "mysql", sqlite: "sqlite" }[engine]

function generate(folder) {
  const schema = join(folder, "schema.prisma")
  const header = `datasource db {\n  provider = "${provider}"\n}\ngenerator client {\n  provider = "prisma-client-js"\n  output = "./client"\n}\n`
  writeFileSync(schema, header + readFileSync("schema.prisma", "utf8"))
  execFileSync(process.execPath, ["node_modules/prisma/build/index.js", "generate", "--schema", schema, "--no-hints"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: "1", CHECKPOINT_DISABLE: "1" },
  })
  return createRequire(import.meta.url)(join(folder, "client")).PrismaClient
}

async function driver({ host, database, schema, socket, file }) {
  if (engine === "postgres") {
    const { PrismaPg } = await import("@prisma/adapter-pg")
    return new PrismaPg({ host, user: "latchkey", database, options: `-c search_path=${schema}` }, { schema })
  }
  if (engine === "mysql") {
    const { PrismaMariaDb } = await import("@prisma/adapter-mariadb")
    return new PrismaMariaDb({ socketPath: socket, user: "root", database })
  }
  const { PrismaLibSql } = await import("@prisma/adapter-libsql")
  return new PrismaLibSql({ url: `file:${file}` })
}

const folder = mkdtempSync(join(import.meta.dirname, "node_modules", ".client-")) // from where it finds its packages
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
const Client = generate(folder)
const adapter = PrismaAdapter(new Client({ adapter: await driver(where) }))
const dates = new Set(["expires", "emailVerified"])
const revive = (key, value) => (dates.has(key) && value ? new Date(value) : value)

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line, revive)
  const answer = await Promise.resolve()
    .then(() => adapter[method](...args))
    .then(
      (result) => ({ result: result ?? null }),
      (error) => ({ error: error.message }),
    )
  console.log(JSON.stringify(answer))
}
process.exit(0)
