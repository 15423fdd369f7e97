export { freePort } from '@model-gateway/kernel';
export { testPostgresUrl, testRedisUrl } from './config.ts';
export { createGate } from './gate.ts';
export { startProcess, type TestProcess } from './start-process.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { uniquePrefix } from './unique-prefix.ts';
export { waitUntil } from './wait-until.ts';
export { rpcCall, type RpcAnswer } from './rpc-call.ts';
export { createTestContext, type TestContext } from './test-context.ts';
