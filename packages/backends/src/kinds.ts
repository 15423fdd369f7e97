import { AGENT } from './agent/kind.ts';
import { ANTHROPIC } from './anthropic/kind.ts';
import { AZURE } from './azure/kind.ts';
import { CLOUD_VIDEO } from './cloud-video/kind.ts';
import { ENGINE } from './engine/kind.ts';
import { EXTERNAL } from './external/kind.ts';
import { GEMINI } from './gemini/kind.ts';
import type { BackendKindDefinition } from './kind-definition.ts';
import { LOCAL_SERVER } from './local-server/kind.ts';

/** Every kind of backend, in the order in which they are named to operators. */
export const KINDS: readonly BackendKindDefinition[] = [
  EXTERNAL,
  ANTHROPIC,
  AZURE,
  GEMINI,
  LOCAL_SERVER,
  ENGINE,
  CLOUD_VIDEO,
  AGENT,
];
