import type { FileEntries } from '@model-gateway/config-file';
import { explainedReason, type backendViewSchema } from '@model-gateway/contracts';
import type {
  BackendConfig,
  BackendLimits,
  HealthReport,
  BackendStatus,
} from '@model-gateway/router';
import type { z } from 'zod';

/** One backend with its registration, without its key. */
export const backendView = (
  routed: BackendStatus,
  index: number,
  { url, apiKey, apiKeys, authHeader, models }: BackendConfig,
  fileEntries: FileEntries,
): z.input<typeof backendViewSchema> => ({
  ...backendEntry(routed, index, fileEntries),
  index,
  url,
  has_api_key: apiKey !== null || apiKeys !== undefined,
  api_key_count: apiKeys?.length ?? (apiKey === null ? 0 : 1),
  auth_header: authHeader ?? null,
  static_models: [...models],
  capabilities: [...routed.capabilities],
});

/** The health of a backend, in the form of the API. */
export const healthView = ({
  state,
  reason,
  checkedAt,
}: Pick<HealthReport, 'state' | 'reason' | 'checkedAt'>) => ({
  state,
  reason: reason === undefined ? null : explainedReason(state, reason),
  checked_at: checkedAt === undefined ? null : new Date(checkedAt).toISOString(),
});

const operationCircuits = ({ failingOperations }: BackendStatus) =>
  failingOperations.length === 0
    ? {}
    : {
        operation_circuits: Object.fromEntries(
          failingOperations.map(({ operation, state }) => [operation, state]),
        ),
      };

/** A backend as lists show it. */
export const backendEntry = (
  routed: BackendStatus,
  index: number,
  fileEntries: Pick<FileEntries, 'markOf'>,
) => ({
  label: `backend_${index}:${routed.backend.kind}`,
  ...healthView(routed),
  name: routed.backend.name,
  ...fileEntries.markOf('backends', routed.backend.name),
  type: routed.backend.kind,
  circuit: routed.circuit,
  ...operationCircuits(routed),
  models: [...routed.models],
  dialects: [...(routed.backend.apis ?? [])],
  limits: limitsView(routed.limits),
});

/** Limits in the form of the API. */
export const limitsView = (limits: BackendLimits | undefined) =>
  limits === undefined
    ? null
    : {
        rpm: limits.rpm ?? null,
        tpm: limits.tpm ?? null,
        concurrency: limits.concurrency ?? null,
        tokens_per_day: limits.tokensPerDay ?? null,
      };
