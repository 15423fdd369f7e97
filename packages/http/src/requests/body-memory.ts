import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ServiceError } from '@model-gateway/contracts';
import { createByteSemaphore, type ByteSemaphore, type Metrics } from '@model-gateway/kernel';

/** Smaller bodies are not counted and never wait: there are many of them, and they take little. */
export const COUNTED_BODY_BYTES_MIN = 256 * 1024;

/** What a byte of a body takes at most until it was sent to an upstream: as bytes, as texts and as values, several times. */
const MEMORY_PER_BODY_BYTE = 8;
/** The part of the memory that large bodies may take. */
const MEMORY_PART = 0.5;

const WAIT_MS_MAX = 30_000;
const WAITING_MAX = 1_000;
const WAITING_OF_OWNER_MAX = 100;
const RETRY_SECS = 5;

/** Limits the memory that large request bodies take in this process together. The owner is who sends one: a user or an address. */
export type BodyMemory = ByteSemaphore<ServiceError>;

interface BodyMemoryOptions {
  readonly bytesMax: number;
  readonly waitMsMax?: number;
  /** A body waited too long, or too many waited. */
  readonly onRefused?: () => void;
}

/** How many bytes of large bodies this process can hold with its memory. */
export function bodiesBytesDefault(): number {
  const { heap_size_limit: heapBytes } = getHeapStatistics();
  // Zero where it is not known, and huge where there is no limit.
  const containerBytes = process.constrainedMemory() || totalmem();
  const bytes = Math.min(heapBytes, containerBytes, totalmem());
  return Math.floor((bytes * MEMORY_PART) / MEMORY_PER_BODY_BYTE);
}

/** Owners share it fairly, and none of them can fill the queue. */
export function createBodyMemory({
  bytesMax,
  waitMsMax = WAIT_MS_MAX,
  onRefused,
}: BodyMemoryOptions): BodyMemory {
  return createByteSemaphore({
    bytesMax,
    waitMsMax,
    waitingMax: WAITING_MAX,
    waitingOfOwnerMax: WAITING_OF_OWNER_MAX,
    refusal() {
      onRefused?.();
      return tooManyBodies();
    },
  });
}

/** The memory of large request bodies in this process, with its metrics. */
export function createMeasuredBodyMemory(bytesMax: number, metrics: Metrics): BodyMemory {
  const refused = metrics
    .counter({
      name: 'service_request_bodies_refused_total',
      help: 'Large request bodies that were refused because there was no memory for them.',
    })
    .series({});
  const memory = createBodyMemory({ bytesMax, onRefused: () => refused.inc() });
  metrics.gauge({
    name: 'service_request_body_bytes',
    help: 'Bytes of large request bodies that are held until their requests are answered.',
    collect: (gauge) => gauge.set(memory.heldBytes),
  });
  metrics.gauge({
    name: 'service_request_bodies_waiting',
    help: 'Large request bodies that wait for memory.',
    collect: (gauge) => gauge.set(memory.waiting),
  });
  return memory;
}

const tooManyBodies = (): ServiceError =>
  new ServiceError(
    'overloaded',
    'too many large requests at once: there was no memory for this one; SERVICE_REQUEST_BODIES_BYTES_MAX sets the limit of all together',
    { details: { retry_after_secs: RETRY_SECS } },
  );
