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

async function sequelize(engine, { host, database, schema, socket }) {
  const { default: SequelizeAdapter } = await import("@auth/sequelize-adapter")
  const { Sequelize } = await import("sequelize")
  const client =
    engine === "postgres"
      ? new Sequelize({ dialect: "postgres", host, username: "latchkey", database, schema, logging: false })
      : new Sequelize({ dialect: "mysql", username: "root", database, dialectOptions: { socketPath: socket }, logging: false })
  return SequelizeAdapter(client, { synchronize: false })
}

async function mikroOrm(engine, { host, database, schema }) {
  const { MikroOrmAdapter } = await import("@auth/mikro-orm-adapter")
  return MikroOrmAdapter({ type: "postgresql", host, user: "latchkey", dbName: database, schema, forceUtcTimezone: true })
}

export const adapters = { drizzle, kysely, typeorm, sequelize, "mikro-orm": mikroOrm }
