/** The version that a node tells the gateway. */
export const AGENT_VERSION = '0.1.0';
