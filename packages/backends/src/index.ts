export { createAnswerMemory, type AnswerMemory } from './transport/answer-memory.ts';
export { boundedCall } from './transport/bounded-call.ts';
export { createBackendFactory } from './factory/backend-factory.ts';
export { resolveKind } from './factory/backend-kind.ts';
export { cleanMessage } from './errors/upstream-error.ts';
export { createBackend } from './factory/create-backend.ts';
export { createMemoryClient } from './memory/memory-client.ts';
export { memorySettings } from './memory/settings.ts';
export { upstreamSettings } from './settings.ts';
