import {
  DEMO_CAPABILITIES,
  DEMO_MODEL_CAPABILITIES,
  DEMO_MODELS,
  startDemoModel,
} from '@model-gateway/demo-model';
import { randomToken, type Lifecycle } from '@model-gateway/kernel';

const DEMO_TOKEN_DELAY_MS = 20;

/** A demo model for first tests: a small upstream that is called over HTTP like any other. */
export async function openDemoBackend(lifecycle: Lifecycle) {
  // Other users of this machine can reach the port; only the gateway has the key.
  const apiKey = randomToken(32);
  const upstream = await lifecycle.open(
    'demo backend',
    () => startDemoModel({ apiKey, tokenDelayMs: DEMO_TOKEN_DELAY_MS }),
    (opened) => opened.close(),
  );
  return {
    name: 'demo',
    type: 'external',
    url: upstream.url,
    apiKey,
    models: DEMO_MODELS,
    capabilities: DEMO_CAPABILITIES,
    modelCapabilities: DEMO_MODEL_CAPABILITIES,
  };
}
