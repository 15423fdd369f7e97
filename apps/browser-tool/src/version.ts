/** The version that the tool tells its callers. */
export const TOOL_VERSION = '0.1.0';
