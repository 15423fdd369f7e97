import manifest from '../package.json' with { type: 'json' };

/** The version that a node reports to the gateway. */
export const AGENT_VERSION: string = manifest.version;
