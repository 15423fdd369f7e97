import { cloudOptions, PASSING } from '../external/kind.ts';
import { HTTP_SCHEMES, type BackendKindDefinition } from '../kind-definition.ts';
import { assertDeployments, createAzureBackend } from './azure-backend.ts';

/** OpenAI models in Azure. */
export const AZURE: BackendKindDefinition = {
  name: 'azure',
  schemes: HTTP_SCHEMES,
  capabilities: PASSING,
  options: ['auth_header', 'api_keys', 'dialects'],
  facts: { takesTokenIds: true },
  assertComplete: ({ models }) => assertDeployments(models),
  create: (config, url, options) =>
    createAzureBackend({ ...cloudOptions(config, url, options), url }),
};
