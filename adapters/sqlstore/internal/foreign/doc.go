// Package foreign recognises the tables that other programs keep users in, above
// all those of the adapters of Auth.js: Prisma, Drizzle, Kysely, TypeORM and
// others. It is given the names and types of columns, asks no database, and
// returns the layout that fits them.
package foreign
