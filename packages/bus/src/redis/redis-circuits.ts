import type { Circuit, CircuitStore } from '@model-gateway/router';
import { z } from 'zod';
import type { RedisConnection } from './redis-connection.ts';
import { script, type Script } from './script.ts';

interface RedisCircuitsOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

// The circuit of an unused backend expires.
const KEPT_MS = 24 * 60 * 60 * 1000;

// Every script reads the circuit, may change it, and returns the result.
const circuitScript = (change: string): Script =>
  script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'failures', 'openUntil', 'trial', 'trialUntil', 'forgetAt')
local failures, openUntil = tonumber(held[1] or 0), tonumber(held[2] or nil)
local trial, trialUntil = held[3] or '', tonumber(held[4] or 0)
local forgetAt = tonumber(held[5] or nil)
if not openUntil and forgetAt and forgetAt <= now then failures, forgetAt = 0, nil end

local function close() failures, openUntil, trial, trialUntil, forgetAt = 0, nil, '', 0, nil end
local function open(milliseconds)
  openUntil, trial, trialUntil, forgetAt = now + milliseconds, '', 0, nil
end
local function save()
  redis.call('DEL', KEYS[1])
  if failures == 0 then return end
  redis.call('HSET', KEYS[1], 'failures', failures)
  if openUntil then redis.call('HSET', KEYS[1], 'openUntil', string.format('%.0f', openUntil)) end
  if forgetAt then redis.call('HSET', KEYS[1], 'forgetAt', string.format('%.0f', forgetAt)) end
  if trial ~= '' then
    redis.call('HSET', KEYS[1], 'trial', trial, 'trialUntil', string.format('%.0f', trialUntil))
  end
  redis.call('PEXPIRE', KEYS[1], ${KEPT_MS} + math.max(0, (openUntil or now) - now))
end

${change}

local openFor = openUntil and math.max(0, openUntil - now) or -1
local forgottenIn = forgetAt and math.max(0, forgetAt - now) or -1
return { failures, openFor, trial, math.max(0, trialUntil - now), forgottenIn }
`);

const READ = circuitScript('');

const FAILED = circuitScript(`
if not openUntil then
  failures = failures + 1
  if failures >= tonumber(ARGV[2]) then open(ARGV[3]) else forgetAt = now + ARGV[3] end
  save()
elseif ARGV[1] ~= '' and trial == ARGV[1] then
  open(ARGV[3])
  save()
end
`);

const SUCCEEDED = circuitScript(`
if failures > 0 and (not openUntil or (ARGV[1] ~= '' and trial == ARGV[1])) then
  close()
  save()
end
`);

const TAKE_TRIAL = circuitScript(`
if openUntil and openUntil <= now and (trial == '' or trialUntil <= now) then
  trial, trialUntil = ARGV[1], now + ARGV[2]
  save()
end
`);

const RELEASE_TRIAL = circuitScript(`
if trial == ARGV[1] then
  trial, trialUntil = '', 0
  save()
end
`);

const circuitAnswer = z
  .tuple([z.number(), z.number(), z.string(), z.number(), z.number()])
  .transform(([failures, openFor, token, forMs, forgottenIn]): Circuit => ({
    failures,
    forgottenInMs: forgottenIn === -1 ? undefined : forgottenIn,
    openForMs: openFor === -1 ? undefined : openFor,
    trial: token === '' ? undefined : { token, forMs },
  }));

/** Circuits that all processes on one Redis share, on the clock of Redis. */
export function createRedisCircuits({ connection, prefix }: RedisCircuitsOptions): CircuitStore {
  const keyOf = (name: string): string => `${prefix}circuit:${name}`;

  async function run(change: Script, name: string, ...values: readonly string[]): Promise<Circuit> {
    return circuitAnswer.parse(
      await connection.run((client) => change.run(client, [keyOf(name)], values)),
    );
  }

  return {
    read: (name) => run(READ, name),
    failed: (name, { failuresMax, openMs }, token = '') =>
      run(FAILED, name, token, String(failuresMax), String(openMs)),
    succeeded: (name, token = '') => run(SUCCEEDED, name, token),
    takeTrial: (name, token, { trialMs }) => run(TAKE_TRIAL, name, token, String(trialMs)),
    releaseTrial: (name, token) => run(RELEASE_TRIAL, name, token),
    async remove(name) {
      await connection.run((client) => client.del(keyOf(name)));
    },
  };
}
