import { ServiceError } from '@model-gateway/contracts';
import type { Backend } from '@model-gateway/router';
import { createExternalBackend, type ExternalOptions } from '../external/external-backend.ts';

interface AzureOptions extends Omit<ExternalOptions, 'prefix'> {
  /** The resource, as `https://name.openai.azure.com`, with or without `/openai`. */
  readonly url: URL;
}

/** A version that has chat with tools, images, structured output and usage in streams. */
const API_VERSION = '2024-10-21';

/**
 * OpenAI models in Azure: a model is the name of a deployment and part of the path. What can be listed are base models and
 * not deployments, so a registration names its deployments.
 */
export function createAzureBackend(options: AzureOptions): Backend {
  const { url, models } = options;
  assertDeployments(models);
  const path = url.pathname.replace(/\/+$/, '');
  const prefix = new URL(`${url.origin}${path === '' ? '/openai' : path}`);
  const query = new URLSearchParams(url.search);
  if (!query.has('api-version')) query.set('api-version', API_VERSION);
  return createExternalBackend({
    ...options,
    kind: 'azure',
    prefix,
    search: `?${query.toString()}`,
    authHeader: options.authHeader ?? 'api-key',
    servesOnlyGiven: true,
    // This API has neither deployments in its paths nor dated versions.
    responsesPath: '/v1/responses',
    pathOf: (model, operation) => `/deployments/${encodeURIComponent(model)}${operation}`,
  });
}

/** Refuses a registration without deployments. */
export function assertDeployments(models: readonly string[]): void {
  if (models.length > 0) return;
  throw new ServiceError(
    'missing_fields',
    "'models': a backend of the kind 'azure' needs the names of its deployments",
  );
}
