// The other adapters of Auth.js, each on a database that is there already. Drivers
// are told to take times as UTC where they would take those of this machine.

async function pgPool({ host, database, schema }) {
  const { default: pg } = await import("pg")
  return new pg.Pool({ host, user: "latchkey", database, options: `-c search_path=${schema}` })
}

async function mysqlPool({ socket, database }, module = "mysql2") {
  const { default: mysql } = await import(module)
  return mysql.createPool({ socketPath: socket, user: "root", database, timezone: "Z" })
}

async function sqlite({ file }) {
  const { default: Database } = await import("libsql")
  const db = new Database(file)
  db.pragma("busy_timeout = 5000")
  return db
}

async function drizzle(engine, where) {
  const { DrizzleAdapter } = await import("@auth/drizzle-adapter")
  if (engine === "postgres") {
    const { drizzle } = await import("drizzle-orm/node-postgres")
    return DrizzleAdapter(drizzle(await pgPool(where)))
  }
  if (engine === "mysql") {
    const { drizzle } = await import("drizzle-orm/mysql2")
    return DrizzleAdapter(drizzle(await mysqlPool(where, "mysql2/promise")))
  }
  const { drizzle } = await import("drizzle-orm/sqlite-proxy")
  const db = await sqlite(where)
  return DrizzleAdapter(
    drizzle(async (sql, params, method) => {
      const statement = db.prepare(sql)
      if (method === "run") {
        statement.run(...params)
        return { rows: [] }
      }
      const rows = statement.raw().all(...params)
      return { rows: method === "get" ? rows[0] : rows }
    }),
  )
}

async function kysely(engine, where) {
  const { KyselyAdapter } = await import("@auth/kysely-adapter")
  const { Kysely, PostgresDialect, MysqlDialect, SqliteDialect } = await import("kysely")
  const dialect =
    engine === "postgres"
      ? new PostgresDialect({ pool: await pgPool(where) })
      : engine === "mysql"
        ? new MysqlDialect({ pool: await mysqlPool(where) })
        : new SqliteDialect({ database: await sqlite(where) })
  return KyselyAdapter(new Kysely({ dialect }))
}

async function typeorm(engine, where) {
  await import("reflect-metadata")
  const { TypeORMAdapter } = await import("@auth/typeorm-adapter")
  const { host, database, schema, socket, file } = where
  if (engine === "postgres") {
    return TypeORMAdapter({ type: "postgres", host, username: "latchkey", database, schema })
  }
  if (engine === "mysql") {
    return TypeORMAdapter({ type: "mysql", connectorPackage: "mysql2", socketPath: socket, username: "root", database })
  }
  const { default: driver } = await import("libsql")
  return TypeORMAdapter({ type: "better-sqlite3", driver, database: file })
}

async function sequelize(engine, { host, database, schema, socket, file }) {
  const { default: SequelizeAdapter } = await import("@auth/sequelize-adapter")
  const { Sequelize } = await import("sequelize")
  const options = {
    postgres: { host, username: "latchkey", database, schema },
    mysql: { username: "root", database, dialectOptions: { socketPath: socket } },
    sqlite: { storage: file, dialectModule: engine === "sqlite" && (await likeSqlite3()) },
  }
  return SequelizeAdapter(new Sequelize({ dialect: engine, logging: false, ...options[engine] }), { synchronize: false })
}

// likeSqlite3 is what Sequelize calls of the package sqlite3, by libsql: that one
// comes with its binary, the other looks for one while it is installed.
async function likeSqlite3() {
  const { default: Libsql } = await import("libsql")
  const named = (values) => (Array.isArray(values) ? values : Object.fromEntries(Object.entries(values).map(([key, value]) => [key.slice(1), value])))
  class Database {
    constructor(file, mode, done) {
      this.db = new Libsql(file)
      this.db.pragma("busy_timeout = 5000")
      queueMicrotask(() => done(null))
    }
    serialize(work) {
      work()
    }
    run(sql, values, done) {
      this.call("run", sql, values, done)
    }
    all(sql, values, done) {
      this.call("all", sql, values, done)
    }
    call(method, sql, values = [], done = () => {}) {
      if (typeof values === "function") return this.call(method, sql, [], values)
      let result, error
      try {
        const statement = this.db.prepare(sql)
        result = statement[statement.reader ? "all" : method](named(values))
      } catch (failed) {
        error = failed
      }
      queueMicrotask(() => done.call({ changes: result?.changes, lastID: result?.lastInsertRowid }, error ?? null, result))
    }
    close(done) {
      this.db.close()
      done?.(null)
    }
  }
  return { Database, OPEN_READWRITE: 2, OPEN_CREATE: 4 }
}

// better-sqlite3 is libsql here, as package.json says, for the same reason.
async function mikroOrm(engine, { host, database, schema, socket, file }) {
  const { MikroOrmAdapter } = await import("@auth/mikro-orm-adapter")
  const options = {
    postgres: { type: "postgresql", host, user: "latchkey", dbName: database, schema },
    mysql: { type: "mysql", user: "root", dbName: database, driverOptions: { connection: { socketPath: socket } } },
    sqlite: { type: "better-sqlite", dbName: file },
  }
  return MikroOrmAdapter({ ...options[engine], forceUtcTimezone: true })
}

export const adapters = { drizzle, kysely, typeorm, sequelize, "mikro-orm": mikroOrm }
