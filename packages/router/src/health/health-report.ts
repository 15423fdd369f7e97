import { z } from 'zod';
import { CAPABILITIES, type Capability, type HealthState } from '../registry/backend.ts';

/** The health of a backend, as all replicas know it. */
export interface HealthReport {
  readonly state: HealthState;
  /** Why it is not Healthy, or what is known only in part. */
  readonly reason: string | undefined;
  /** When it was probed last, in milliseconds since the epoch; undefined before the first probe. */
  readonly checkedAt: number | undefined;
  /** The last known models; they stay known while the backend is unavailable. */
  readonly models: readonly string[];
  /** Its capabilities, as of its last probe. */
  readonly capabilities: readonly Capability[];
  /** By model, as far as the backend lists it. */
  readonly contextLengths: ReadonlyMap<string, number>;
}

/** Fail-closed: the health of a backend before its first probe. */
export const NOT_PROBED: HealthReport = {
  state: 'Unhealthy',
  reason: 'not probed yet',
  checkedAt: undefined,
  models: [],
  capabilities: [],
  contextLengths: new Map(),
};

/** A report about one registration; the fingerprint distinguishes it from an earlier one under the same name. */
export const sharedReportSchema = z.object({
  fingerprint: z.string(),
  state: z.enum(['Healthy', 'Degraded', 'Unhealthy']),
  reason: z.string().optional(),
  checkedAt: z.int().optional(),
  models: z.array(z.string()),
  capabilities: z.array(z.enum(CAPABILITIES)),
  /** Absent in reports of earlier versions. */
  contextLengths: z.array(z.tuple([z.string(), z.number()])).default([]),
});
export type SharedReport = z.infer<typeof sharedReportSchema>;

/** A message on the health channel. */
export const healthMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('report'), name: z.string(), report: sharedReportSchema }),
  /** The circuit of a backend changed; read it from the store. */
  z.object({ kind: z.literal('circuit'), name: z.string(), from: z.string() }),
  /** A process starts, and learns whether there are others. */
  z.object({ kind: z.literal('start'), from: z.string() }),
  /** A process has begun to probe all backends. */
  z.object({ kind: z.literal('round'), from: z.string() }),
]);
export type HealthMessage = z.infer<typeof healthMessageSchema>;

export const HEALTH_CHANNEL = 'health';

/** The entry that holds the report about a backend. */
export const healthKey = (name: string): string => `health:${name}`;
