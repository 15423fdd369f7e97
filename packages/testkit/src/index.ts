export { freePort } from '@model-gateway/kernel';
export { askSocket } from './ask-socket.ts';
export { fullSize, fullTable, fullTest, testPostgresUrl, testRedisUrl } from './config.ts';
export { makeCertificates } from './certificates.ts';
export { createGate } from './gate.ts';
export { readStream, type ReadStream } from './read-stream.ts';
export { startSmtpServer, type TestSmtpServer } from './smtp-server.ts';
export { startProcess, type TestProcess } from './start-process.ts';
export { openStoreLine, type StoreLine } from './store-line.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export {
  accessTokenFor,
  createTestAccount,
  insertAccount,
  signInToProcess,
  type TestAccount,
} from './test-account.ts';
export { preparedDataDir, temporaryDataDir, type TemporaryFolder } from './temporary-folder.ts';
export { pick, randomFrom, upTo, type Random } from './random.ts';
export { expectRecorded } from './recorded-answers.ts';
export { recordWhile } from './record-while.ts';
export { usageEvent, usageEventsIn } from './usage-event.ts';
export { uniquePrefix } from './unique-prefix.ts';
export { watchForSecrets } from './secret-watch.ts';
export { waitUntil } from './wait-until.ts';
export { rpcCall, type RpcAnswer } from './rpc-call.ts';
export { createTestContext, type TestContext } from './test-context.ts';
