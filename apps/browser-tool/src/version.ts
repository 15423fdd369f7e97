/** The version of the tool. */
export const TOOL_VERSION = '0.1.0';
