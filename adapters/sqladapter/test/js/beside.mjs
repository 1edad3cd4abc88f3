// Auth.js' Drizzle adapter, at work in the databases of programs that run. Each
// connects, names its schema in a first line, and may have calls made: lines
// {"method", "args"} as for peer.mjs. Until it is gone the adapter also signs in users,
// of its own and of the program's, renews their sessions and reads every row. What it
// saw last is a line on standard output. The end of standard input ends it all.
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { DrizzleAdapter } from "@auth/drizzle-adapter"
import { drizzle } from "drizzle-orm/node-postgres"
import pg from "pg"

const [host] = process.argv.slice(2)

class Beside {
  constructor(schema) {
    this.schema = schema
    this.pool = new pg.Pool({ host, user: "latchkey", database: "postgres", max: 2, options: `-c search_path=${schema}` })
    this.adapter = DrizzleAdapter(drizzle(this.pool))
    this.expires = new Map() // of sessions that this side has opened, by token
    this.report = { schema, renewals: 0, visited: 0, errors: [] }
  }

  check(holds, what) {
    if (!holds) this.report.errors.push(what)
  }

  async ids(statement) {
    return (await this.pool.query({ text: statement, rowMode: "array" })).rows
  }

  // arrive signs a user in who is new to the program.
  async arrive() {
    const user = await this.adapter.createUser({ name: "Visitor", email: "visitor@elsewhere.example", emailVerified: null, image: null })
    this.own = { provider: "elsewhere", providerAccountId: "1" }
    await this.adapter.linkAccount({ ...this.own, userId: user.id, type: "oauth", access_token: "theirs", expires_at: 1936866615 })
    this.visitor = user.id
    await this.signIn(user.id)
  }

  async signIn(userId) {
    const sessionToken = "theirs of " + userId
    this.expires.set(sessionToken, Date.now() + 864e6)
    await this.adapter.createSession({ sessionToken, userId, expires: new Date(this.expires.get(sessionToken)) })
  }

  // round is one look at everybody. The program may end sessions of its own users.
  async round() {
    for (const [id] of await this.ids('SELECT id FROM "user"')) {
      const token = "theirs of " + id
      const user = await this.adapter.getUser(id)
      this.check(user?.id === id && (!user.email || (await this.adapter.getUserByEmail(user.email))?.id === id), "a user is not found again")
      if (!this.expires.has(token)) {
        this.report.visited++
        await this.signIn(id)
      }
      const found = await this.adapter.getSessionAndUser(token)
      if (found) await this.renew(id, found)
      else this.check(id !== this.visitor, "the visitor was signed out")
    }
  }

  async renew(id, { session, user }) {
    const { sessionToken } = session
    this.check(session.userId === id && user.id === id && session.expires.getTime() === this.expires.get(sessionToken), "a session is another's, or expires at another time")
    const later = this.expires.get(sessionToken) + 1000
    if (!(await this.adapter.updateSession({ sessionToken, expires: new Date(later) }))) return
    this.expires.set(sessionToken, later)
    this.report.renewals++
  }

  async stay(gone) {
    while (!gone()) {
      await this.round()
      await pause(100)
    }
    await this.round()
  }

  // rows are all that the adapter finds.
  async rows() {
    const { adapter } = this
    const users = (await this.ids('SELECT id FROM "user"')).map(([id]) => adapter.getUser(id))
    const accounts = (await this.ids('SELECT "providerAccountId", provider FROM account')).map((key) => adapter.getAccount(...key))
    const sessions = (await this.ids('SELECT "sessionToken" FROM session')).map(([token]) => adapter.getSessionAndUser(token))
    return { users: await Promise.all(users), accounts: await Promise.all(accounts), sessions: (await Promise.all(sessions)).flatMap((found) => found?.session ?? []) }
  }

  async leave() {
    Object.assign(this.report, await this.rows())
    await this.pool.end()
  }
}

const dates = new Set(["expires", "emailVerified"])
const revive = (key, value) => (dates.has(key) && value ? new Date(value) : value)

async function serve(socket) {
  const lines = createInterface({ input: socket })
  let beside, staying
  let gone = false
  socket.on("error", () => {}) // it may be killed
  socket.on("close", () => {
    gone = true
    lines.close()
  })
  for await (const line of lines) {
    if (!beside) {
      beside = new Beside(line)
      await beside.arrive()
      const failed = (error) => beside.report.errors.push(String(error.cause ?? error))
      staying = beside.stay(() => gone).catch(failed).then(() => beside.leave()).catch(failed)
      socket.write('{"result":null}\n')
      continue
    }
    const { method, args } = JSON.parse(line, revive)
    const answer = await beside.adapter[method](...args).then(
      (result) => ({ result: result ?? null }),
      (error) => ({ error: String(error.cause ?? error) }),
    )
    socket.write(JSON.stringify(answer) + "\n")
  }
  gone = true
  if (!beside) return
  await staying
  console.log(JSON.stringify(beside.report))
}

// It ends by itself, when all is written: process.exit would cut off what the pipe has no room for.
const server = createServer(serve)
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify(server.address().port)))
process.stdin.resume().on("end", () => server.close())
