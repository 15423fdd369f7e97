// Usage events as the gateway appends them to the journal, and the users that they belong to.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const { Client } = createRequire(new URL('../../packages/db/package.json', import.meta.url))('pg');

export const PEOPLE_MAX = 1000;

const idOf = (kind, person) => `00000000-0000-4000-${kind}-${String(person).padStart(12, '0')}`;
const userId = (person) => idOf('8000', person);
const keyId = (person) => idOf('9000', person);

export async function addPeople(connectionString) {
  const people = Array.from({ length: PEOPLE_MAX }, (_, person) => person);
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO users (id, email, password_hash)
       SELECT id, id || '@example.com', 'none' FROM unnest($1::uuid[]) id`,
      [people.map(userId)],
    );
    await client.query(
      `INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, key_hint)
       SELECT id, user_id, 'bench', encode(sha256(id::text::bytea), 'hex'), 'service-', 'service-…'
       FROM unnest($1::uuid[], $2::uuid[]) AS key (id, user_id)`,
      [people.map(keyId), people.map(userId)],
    );
  } finally {
    await client.end();
  }
}

/** This many events of this many users, of now. */
export function* eventsOf(people, count) {
  for (let index = 0; index < count; index += 1) {
    const person = Math.floor(Math.random() * people);
    yield {
      id: randomUUID(),
      user_id: userId(person),
      key_id: keyId(person),
      api_key_id: 'service-',
      project: 'default',
      group_id: null,
      model: 'bench',
      backend: 'gateway',
      prompt_tokens: 24,
      completion_tokens: 120,
      total_tokens: 144,
      cost: 0.000123,
      multiplier: 1,
      ref_id: null,
      call_id: randomUUID(),
      upstream: 'bench',
      cached_tokens: null,
      latency_ms: 12,
      first_token_ms: null,
      status: 200,
      price: { source: 'built-in', input_per_million: 2.5, output_per_million: 10 },
      created_at: new Date().toISOString(),
    };
  }
}
