/// <reference types="node" />

/** For the Prisma command line alone, which takes its database from here; the service itself reads DATABASE_URL in its config. */
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://127.0.0.1:5432/postgres' },
};
