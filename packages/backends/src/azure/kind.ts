import { cloudOptions, OFFERED, PASSING } from '../external/kind.ts';
import { HTTP_SCHEMES, PASSING_OPTIONS, type BackendKindDefinition } from '../kind-definition.ts';
import { assertDeployments, createAzureBackend } from './azure-backend.ts';

/** OpenAI models in Azure. */
export const AZURE: BackendKindDefinition = {
  name: 'azure',
  form: {
    title: 'Azure OpenAI',
    purpose: 'Deployments of Azure OpenAI.',
    exampleUrl: 'https://NAME.openai.azure.com?api-version=2024-10-21',
    apiKey: { title: 'API key', isUsual: true },
    needsModels: true,
    capabilities: OFFERED,
  },
  schemes: HTTP_SCHEMES,
  capabilities: PASSING,
  options: PASSING_OPTIONS,
  facts: { takesTokenIds: true },
  assertComplete: ({ models }) => assertDeployments(models),
  create: (config, url, options) =>
    createAzureBackend({ ...cloudOptions(config, url, options), url }),
};
