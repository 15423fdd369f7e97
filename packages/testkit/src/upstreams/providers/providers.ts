import type { Provider } from './provider.ts';

const BEARER = { authorization: 'Bearer ' };
const LISTED_AT = 1_760_000_000;

/** The chat-completions APIs of known providers, with the paths, headers and bodies that the real ones have. */
export const PROVIDERS = {
  /** The listing has the models that could be deployed; a request names a deployment. */
  azure: {
    basePath: '/openai/v1',
    keyHeaders: { ...BEARER, 'api-key': '' },
    models: ['my-gpt-4o', 'my-embeddings'],
    listing: {
      status: 200,
      body: {
        object: 'list',
        data: ['gpt-4o-2024-11-20', 'text-embedding-3-large'].map((id) => ({
          id,
          object: 'model',
          created_at: LISTED_AT,
          status: 'succeeded',
          lifecycle_status: 'generally-available',
          capabilities: { inference: true },
        })),
      },
    },
    isListingPublic: false,
    wrongKey: {
      status: 401,
      body: {
        error: {
          code: '401',
          message:
            'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
        },
      },
    },
    unknownPath: {
      status: 404,
      body: { error: { code: '404', message: 'Resource not found' } },
    },
    unknownModel: () => ({
      status: 404,
      body: {
        error: {
          code: 'DeploymentNotFound',
          message:
            'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
        },
      },
    }),
  },
  /** Its listing belongs to the native API and takes no bearer key. */
  anthropic: {
    basePath: '/v1',
    keyHeaders: BEARER,
    models: ['claude-sonnet-4-5'],
    listing: anthropicError(401, 'authentication_error', 'Invalid bearer token'),
    isListingPublic: true,
    wrongKey: anthropicError(401, 'authentication_error', 'invalid x-api-key'),
    unknownPath: anthropicError(404, 'not_found_error', 'Not Found'),
    unknownModel: (model) => anthropicError(404, 'not_found_error', `model: ${model}`),
  },
  /** Ids are listed with a prefix and accepted without; errors are lists, and a wrong key is a 400. */
  gemini: {
    basePath: '/v1beta/openai',
    keyHeaders: BEARER,
    models: ['gemini-2.5-flash', 'models/gemini-2.5-flash', 'gemini-embedding-001'],
    listing: {
      status: 200,
      body: {
        object: 'list',
        data: ['models/gemini-2.5-flash', 'models/gemini-embedding-001'].map((id) => ({
          id,
          object: 'model',
          owned_by: 'google',
        })),
      },
    },
    isListingPublic: false,
    wrongKey: geminiError(
      400,
      'INVALID_ARGUMENT',
      'API key not valid. Please pass a valid API key.',
    ),
    unknownPath: geminiError(404, 'NOT_FOUND', 'Requested entity was not found.'),
    unknownModel: (model) =>
      geminiError(404, 'NOT_FOUND', `models/${model} is not found for API version v1main.`),
  },
  /** Its listing is for everyone, so that it says nothing about a key. */
  openRouter: {
    basePath: '/api/v1',
    keyHeaders: BEARER,
    models: ['openai/gpt-4o-mini', 'openai/text-embedding-3-small'],
    listing: {
      status: 200,
      body: {
        data: [
          {
            id: 'openai/gpt-4o-mini',
            canonical_slug: 'openai/gpt-4o-mini',
            name: 'OpenAI: GPT-4o-mini',
            created: LISTED_AT,
            context_length: 128_000,
            architecture: { modality: 'text+image->text', tokenizer: 'GPT' },
            pricing: { prompt: '0.00000015', completion: '0.0000006' },
          },
        ],
      },
    },
    isListingPublic: true,
    wrongKey: {
      status: 401,
      body: { error: { message: 'No auth credentials found', code: 401 } },
    },
    unknownPath: { status: 404, body: { error: { message: 'Not Found', code: 404 } } },
    unknownModel: (model) => ({
      status: 400,
      body: { error: { message: `${model} is not a valid model ID`, code: 400 } },
    }),
  },
  /** Every path below `/v1` needs the key. */
  vllm: {
    basePath: '/v1',
    keyHeaders: BEARER,
    models: ['qwen3-8b'],
    listing: {
      status: 200,
      body: {
        object: 'list',
        data: [
          {
            id: 'qwen3-8b',
            object: 'model',
            created: LISTED_AT,
            owned_by: 'vllm',
            root: 'Qwen/Qwen3-8B',
            parent: null,
            max_model_len: 40_960,
          },
        ],
      },
    },
    isListingPublic: false,
    wrongKey: { status: 401, body: { error: 'Unauthorized' } },
    unknownPath: { status: 404, body: { detail: 'Not Found' } },
    unknownModel: (model) => ({
      status: 404,
      body: {
        error: {
          message: `The model \`${model}\` does not exist.`,
          type: 'NotFoundError',
          param: 'model',
          code: 404,
        },
      },
    }),
  },
  /** Its listing needs no key, and has two forms. With one model loaded it accepts any id; this is how several do it. */
  llamaCpp: {
    basePath: '/v1',
    keyHeaders: { ...BEARER, 'x-api-key': '' },
    models: ['gemma-3-4b'],
    listing: {
      status: 200,
      body: {
        models: [{ name: 'gemma-3-4b', model: 'gemma-3-4b', capabilities: ['completion'] }],
        object: 'list',
        data: [
          {
            id: 'gemma-3-4b',
            object: 'model',
            created: LISTED_AT,
            owned_by: 'llamacpp',
            meta: { n_vocab: 262_144, n_ctx: 16_384, n_ctx_train: 131_072 },
          },
        ],
      },
    },
    isListingPublic: true,
    wrongKey: {
      status: 401,
      body: { error: { message: 'Invalid API Key', type: 'authentication_error', code: 401 } },
    },
    unknownPath: {
      status: 404,
      body: { error: { message: 'File Not Found', type: 'not_found_error', code: 404 } },
    },
    unknownModel: (model) => ({
      status: 400,
      body: {
        error: { message: `model '${model}' not found`, type: 'invalid_request_error', code: 400 },
      },
    }),
  },
  /** It asks for a key only where that is switched on. The texts of its refusals are not recorded ones. */
  lmStudio: {
    basePath: '/v1',
    keyHeaders: BEARER,
    models: ['qwen/qwen3-4b-2507', 'text-embedding-nomic-embed-text-v1.5'],
    listing: {
      status: 200,
      body: {
        data: ['qwen/qwen3-4b-2507', 'text-embedding-nomic-embed-text-v1.5'].map((id) => ({
          id,
          object: 'model',
          owned_by: 'organization_owner',
        })),
        object: 'list',
      },
    },
    isListingPublic: false,
    wrongKey: {
      status: 401,
      body: { error: { message: 'Invalid API token', type: 'invalid_request_error' } },
    },
    unknownPath: { status: 404, body: { error: 'Unexpected endpoint or method.' } },
    unknownModel: (model) => ({
      status: 404,
      body: { error: { message: `Model "${model}" not found.`, type: 'invalid_request_error' } },
    }),
  },
} satisfies Readonly<Record<string, Provider>>;

function anthropicError(status: number, type: string, message: string) {
  return { status, body: { type: 'error', error: { type, message } } };
}

function geminiError(status: number, name: string, message: string) {
  return { status, body: [{ error: { code: status, message, status: name } }] };
}
