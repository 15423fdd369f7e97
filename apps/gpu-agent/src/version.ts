/** The version that a node reports to the gateway. */
export const AGENT_VERSION = '0.1.0';
