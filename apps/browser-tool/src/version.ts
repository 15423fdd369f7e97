import manifest from '../package.json' with { type: 'json' };

/** The version of the tool. */
export const TOOL_VERSION: string = manifest.version;
